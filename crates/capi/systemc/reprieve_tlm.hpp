/*
 * A drive of Reprieve as a target of SystemC TLM-2.0: approximately timed, blocking, and debug.
 *
 *     reprieve::tlm_drive drive("drive", scenario);
 *     initiator.socket.bind(drive.socket);      // as many initiators as you like
 *
 * A transaction is a read or a write of whole sectors, its address in bytes. Its request arrives at
 * the drive at the time of BEGIN_REQ with its delay, at the next whole nanosecond; END_REQ is the
 * return from that call, as the drive has its own queues and takes every request. BEGIN_RESP is sent
 * when the drive completes it, or behind the END_RESP of an earlier response to the same initiator.
 * What is written is read again: data is written at BEGIN_REQ and read at BEGIN_RESP, in memory.
 * With an extension, drive_request, a write has forced unit access, and TLM_IGNORE_COMMAND is a trim
 * or a flush.
 *
 * The time resolution of SystemC must be a nanosecond or less. There is no direct memory interface.
 */
#ifndef REPRIEVE_TLM_HPP
#define REPRIEVE_TLM_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include "reprieve.h"

namespace reprieve {

/* What a transaction asks of the drive besides its command. */
struct drive_request : tlm::tlm_extension<drive_request>
{
    bool fua = false;   /* a write has its response when it is in flash */
    bool trim = false;  /* with TLM_IGNORE_COMMAND: the data is wanted no more, and reads as zeros */
    bool flush = false; /* with TLM_IGNORE_COMMAND: a response when every earlier write is in flash;
                           address and length do not count */

    tlm::tlm_extension_base *clone() const override { return new drive_request(*this); }

    void copy_from(const tlm::tlm_extension_base &other) override
    {
        *this = static_cast<const drive_request &>(other);
    }
};

class tlm_drive : public sc_core::sc_module
{
public:
    tlm_utils::multi_passthrough_target_socket<tlm_drive> socket;

    /* Opens a drive of this scenario, TOML; a mistake in it is reported as SC_FATAL. */
    tlm_drive(sc_core::sc_module_name name, const std::string &scenario)
        : sc_module(name), socket("socket")
    {
        if (reprieve_abi_version() != REPRIEVE_ABI_VERSION)
            SC_REPORT_FATAL("reprieve", "the library has another interface than reprieve.h");
        if (sc_core::sc_get_time_resolution() > sc_core::sc_time(1, sc_core::SC_NS))
            SC_REPORT_FATAL("reprieve", "the time resolution must be a nanosecond or less");
        nanosecond_ = sc_core::sc_time(1, sc_core::SC_NS).value();
        must(reprieve_open(scenario.data(), scenario.size(), &drive_));
        socket.register_nb_transport_fw(this, &tlm_drive::nb_transport_fw);
        socket.register_b_transport(this, &tlm_drive::b_transport);
        socket.register_transport_dbg(this, &tlm_drive::transport_dbg);
        SC_HAS_PROCESS(tlm_drive);
        SC_METHOD(step);
        dont_initialize();
        sensitive << step_;
        SC_METHOD(respond);
        dont_initialize();
        sensitive << respond_;
    }

    ~tlm_drive() override { reprieve_close(drive_); }

    tlm_drive(const tlm_drive &) = delete;
    tlm_drive &operator=(const tlm_drive &) = delete;

    /* Bytes that the drive has. */
    std::uint64_t capacity_bytes() const { return reprieve_capacity_bytes(drive_); }

private:
    static constexpr std::uint64_t SECTOR = 512;

    /* A transaction under way: who waits for it, and, if it is a blocking one, by which event. */
    struct pending
    {
        int initiator;
        tlm::tlm_generic_payload *trans;
        sc_core::sc_event *done;
    };

    /* The way back to an initiator, which one response at a time takes. */
    struct way_back
    {
        std::deque<tlm::tlm_generic_payload *> waiting;
        bool is_taken = false;
        sc_core::sc_time free_at;
    };

    reprieve_drive *drive_ = nullptr;
    std::uint64_t nanosecond_ = 1; /* in units of the time resolution */
    std::uint64_t next_tag_ = 0;
    std::unordered_map<std::uint64_t, pending> pending_;
    std::map<int, way_back> back_;
    std::unordered_map<std::uint64_t, std::array<unsigned char, SECTOR>> data_;
    sc_core::sc_event step_, respond_;

    void must(int status) const
    {
        if (status != REPRIEVE_OK)
            SC_REPORT_FATAL("reprieve", reprieve_error(drive_));
    }

    std::uint64_t ns_of(const sc_core::sc_time &time) const
    {
        return (time.value() + nanosecond_ - 1) / nanosecond_;
    }

    sc_core::sc_time time_of(std::uint64_t ns) const
    {
        return sc_core::sc_time::from_value(ns * nanosecond_);
    }

    static drive_request wish_of(const tlm::tlm_generic_payload &trans)
    {
        const drive_request *const wish = trans.get_extension<drive_request>();
        return wish != nullptr ? *wish : drive_request();
    }

    /* Whether the drive takes a transaction; its response says why not. */
    bool check(tlm::tlm_generic_payload &trans) const
    {
        const std::uint64_t address = trans.get_address(), length = trans.get_data_length();
        const drive_request wish = wish_of(trans);
        const bool moves = trans.get_command() != tlm::TLM_IGNORE_COMMAND;
        if (moves ? wish.trim || wish.flush || (wish.fua && !trans.is_write())
                  : wish.trim == wish.flush || wish.fua)
            trans.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        else if (trans.get_byte_enable_ptr() != nullptr)
            trans.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        else if (wish.flush)
            return true;
        else if (length == 0 || length % SECTOR != 0
                 || (moves && trans.get_streaming_width() < length))
            trans.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        else if (address % SECTOR != 0 || address > capacity_bytes()
                 || length > capacity_bytes() - address)
            trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        else
            return true;
        return false;
    }

    void submit(int initiator, tlm::tlm_generic_payload &trans, const sc_core::sc_time &delay,
                sc_core::sc_event *done)
    {
        const drive_request wish = wish_of(trans);
        if (!trans.is_read() && !wish.flush)
            copy(trans);
        reprieve_request request{};
        request.tag = next_tag_++;
        if (!wish.flush) {
            request.lba = trans.get_address() / SECTOR;
            request.bytes = trans.get_data_length();
        }
        request.op = wish.flush        ? REPRIEVE_FLUSH
                     : wish.trim       ? REPRIEVE_TRIM
                     : trans.is_read() ? REPRIEVE_READ
                                       : REPRIEVE_WRITE;
        request.fua = wish.fua;
        pending_[request.tag] = {initiator, &trans, done};
        must(reprieve_submit(drive_, ns_of(sc_core::sc_time_stamp() + delay), &request));
        plan();
    }

    /* Wakes at the drive's next instant; an earlier wake that is due already stays. */
    void plan()
    {
        std::uint64_t next_ns;
        must(reprieve_next(drive_, &next_ns));
        if (next_ns != REPRIEVE_NEVER)
            step_.notify(time_of(next_ns) - sc_core::sc_time_stamp());
    }

    /* The drive's next instant has come. */
    void step()
    {
        std::uint64_t next_ns;
        must(reprieve_next(drive_, &next_ns));
        while (next_ns != REPRIEVE_NEVER && time_of(next_ns) <= sc_core::sc_time_stamp()) {
            must(reprieve_advance(drive_, next_ns));
            must(reprieve_next(drive_, &next_ns));
        }
        reprieve_completion done;
        while (reprieve_poll(drive_, &done, 1) == 1)
            complete(done);
        plan();
    }

    void complete(const reprieve_completion &done)
    {
        const auto found = pending_.find(done.tag);
        const pending ended = found->second;
        pending_.erase(found);
        if (ended.trans->is_read())
            copy(*ended.trans);
        ended.trans->set_response_status(done.uncorrectable_pages > 0
                                             ? tlm::TLM_GENERIC_ERROR_RESPONSE
                                             : tlm::TLM_OK_RESPONSE);
        if (ended.done != nullptr) {
            ended.done->notify(sc_core::SC_ZERO_TIME);
            return;
        }
        back_[ended.initiator].waiting.push_back(ended.trans);
        respond_.notify(sc_core::SC_ZERO_TIME);
    }

    /* Sends the responses for which the way back is free. */
    void respond()
    {
        for (auto &[initiator, back] : back_) {
            if (back.waiting.empty() || back.is_taken)
                continue;
            const sc_core::sc_time now = sc_core::sc_time_stamp();
            if (back.free_at > now) {
                respond_.notify(back.free_at - now);
                continue;
            }
            tlm::tlm_generic_payload *const trans = back.waiting.front();
            back.waiting.pop_front();
            back.is_taken = true;
            tlm::tlm_phase phase = tlm::BEGIN_RESP;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            const auto status = socket[initiator]->nb_transport_bw(*trans, phase, delay);
            if (status == tlm::TLM_COMPLETED
                || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP))
                end(initiator, *trans, delay);
        }
    }

    /* The response ends `delay` from now. */
    void end(int initiator, tlm::tlm_generic_payload &trans, const sc_core::sc_time &delay)
    {
        way_back &back = back_[initiator];
        back.is_taken = false;
        back.free_at = sc_core::sc_time_stamp() + delay;
        if (trans.has_mm())
            trans.release();
        respond_.notify(delay);
    }

    tlm::tlm_sync_enum nb_transport_fw(int initiator, tlm::tlm_generic_payload &trans,
                                       tlm::tlm_phase &phase, sc_core::sc_time &delay)
    {
        if (phase == tlm::END_RESP) {
            end(initiator, trans, delay);
            return tlm::TLM_COMPLETED;
        }
        if (phase != tlm::BEGIN_REQ)
            SC_REPORT_FATAL("reprieve", "a phase that is not of the base protocol, or out of turn");
        if (!check(trans))
            return tlm::TLM_COMPLETED;
        if (trans.has_mm())
            trans.acquire();
        submit(initiator, trans, delay, nullptr);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }

    void b_transport(int initiator, tlm::tlm_generic_payload &trans, sc_core::sc_time &delay)
    {
        if (!check(trans))
            return;
        sc_core::sc_event done;
        submit(initiator, trans, delay, &done);
        sc_core::wait(done);
        delay = sc_core::SC_ZERO_TIME;
    }

    unsigned transport_dbg(int, tlm::tlm_generic_payload &trans)
    {
        if (!check(trans) || trans.get_command() == tlm::TLM_IGNORE_COMMAND)
            return 0;
        copy(trans);
        return trans.get_data_length();
    }

    /* Copies the data of a transaction to the drive, or from it, or drops what it trims; what
     * nobody wrote is zero. */
    void copy(tlm::tlm_generic_payload &trans)
    {
        unsigned char *const bytes = trans.get_data_ptr();
        for (std::uint64_t done = 0; done < trans.get_data_length(); done += SECTOR) {
            const std::uint64_t sector = (trans.get_address() + done) / SECTOR;
            if (trans.get_command() == tlm::TLM_IGNORE_COMMAND) {
                data_.erase(sector);
            } else if (trans.is_write()) {
                std::memcpy(data_[sector].data(), bytes + done, SECTOR);
            } else if (const auto found = data_.find(sector); found != data_.end()) {
                std::memcpy(bytes + done, found->second.data(), SECTOR);
            } else {
                std::memset(bytes + done, 0, SECTOR);
            }
        }
    }
};

} // namespace reprieve

#endif
