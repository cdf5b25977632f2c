/*
 * A platform of SystemC: two initiators in front of one drive, approximately timed, and one that
 * flushes, trims and forces writes to flash on another.
 *
 *     c++ -std=c++17 systemc_platform.cpp $(pkg-config --cflags --libs reprieve systemc) -o platform
 */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "reprieve_tlm.hpp"

using namespace sc_core;
using tlm::tlm_generic_payload;

/* One die: a read of a page takes 10 us in the array and 20 us on the bus, a program 20 + 140. */
static const char *const SCENARIO = "device = \"fast12-slc\"\n"
                                    "policy = \"fifo\"\n"
                                    "[geometry]\nchannels = 1\nplanes_per_die = 1\n"
                                    "blocks_per_plane = 64\n"
                                    "[host]\nlink_bytes_per_s = \"none\"\n";

static constexpr unsigned PAGE = 2048;

static void check(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "%s at %s\n", what, sc_time_stamp().to_string().c_str());
        std::exit(1);
    }
}
#define CHECK(condition) check(condition, #condition)

/* Sends pages one after another, each once the one before has its response. */
class initiator : public sc_module, private tlm::tlm_mm_interface
{
public:
    tlm_utils::simple_initiator_socket<initiator> socket;
    std::vector<sc_time> ended; /* when each response began */

    initiator(sc_module_name name, std::uint64_t first_page, bool answers_late)
        : sc_module(name), socket("socket"), first_page_(first_page), answers_late_(answers_late),
          answers_(this, &initiator::answer)
    {
        socket.register_nb_transport_bw(this, &initiator::nb_transport_bw);
        SC_HAS_PROCESS(initiator);
        SC_THREAD(main);
    }

private:
    std::uint64_t first_page_;
    bool answers_late_; /* END_RESP comes in a call of its own, 5 us later */
    tlm_utils::peq_with_cb_and_phase<initiator> answers_;
    sc_event responded_;

    void free(tlm_generic_payload *trans) override { delete trans; }

    void main()
    {
        for (unsigned char number = 1; number <= 3; number++) {
            std::vector<unsigned char> data(PAGE, number), read(PAGE, 0xff);
            transfer(tlm::TLM_WRITE_COMMAND, first_page_ + number, data);
            transfer(tlm::TLM_READ_COMMAND, first_page_ + number, read);
            CHECK(read == data);
        }
        sc_time delay = SC_ZERO_TIME;
        tlm_generic_payload odd;
        std::vector<unsigned char> bytes(PAGE);
        set(odd, tlm::TLM_READ_COMMAND, 0, bytes);
        odd.set_address(100);
        socket->b_transport(odd, delay);
        CHECK(odd.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }

    static void set(tlm_generic_payload &trans, tlm::tlm_command command, std::uint64_t page,
                    std::vector<unsigned char> &data)
    {
        trans.set_command(command);
        trans.set_address(page * PAGE);
        trans.set_data_ptr(data.data());
        trans.set_data_length(PAGE);
        trans.set_streaming_width(PAGE);
        trans.set_byte_enable_ptr(nullptr);
        trans.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    }

    void transfer(tlm::tlm_command command, std::uint64_t page, std::vector<unsigned char> &data)
    {
        auto *const trans = new tlm_generic_payload(this);
        trans->acquire();
        set(*trans, command, page, data);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_time delay = SC_ZERO_TIME;
        const auto status = socket->nb_transport_fw(*trans, phase, delay);
        CHECK(status == tlm::TLM_UPDATED && phase == tlm::END_REQ);
        wait(responded_);
        CHECK(trans->is_response_ok());
        trans->release();
    }

    tlm::tlm_sync_enum nb_transport_bw(tlm_generic_payload &trans, tlm::tlm_phase &phase,
                                       sc_time &)
    {
        CHECK(phase == tlm::BEGIN_RESP);
        ended.push_back(sc_time_stamp());
        if (answers_late_) {
            tlm::tlm_phase end = tlm::END_RESP;
            trans.acquire();
            answers_.notify(trans, end, sc_time(5, SC_US));
            return tlm::TLM_ACCEPTED;
        }
        responded_.notify(SC_ZERO_TIME);
        return tlm::TLM_COMPLETED;
    }

    void answer(tlm_generic_payload &trans, const tlm::tlm_phase &)
    {
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_time delay = SC_ZERO_TIME;
        socket->nb_transport_fw(trans, phase, delay);
        trans.release();
        responded_.notify(SC_ZERO_TIME);
    }
};

/* Uses a drive that completes writes in its buffer, by blocking transport. */
class flusher : public sc_module
{
public:
    tlm_utils::simple_initiator_socket<flusher> socket;
    bool has_ended = false;

    explicit flusher(sc_module_name name) : sc_module(name), socket("socket")
    {
        SC_HAS_PROCESS(flusher);
        SC_THREAD(main);
    }

private:
    std::vector<unsigned char> data_ = std::vector<unsigned char>(PAGE, 7);
    reprieve::drive_request wish_;

    /* The response to a transaction with this extension, and when it comes. */
    void send(tlm::tlm_command command, double end_us,
              tlm::tlm_response_status expected = tlm::TLM_OK_RESPONSE)
    {
        tlm_generic_payload trans;
        trans.set_command(command);
        trans.set_address(0);
        trans.set_data_ptr(data_.data());
        trans.set_data_length(PAGE);
        trans.set_streaming_width(PAGE);
        trans.set_extension(&wish_);
        sc_time delay = SC_ZERO_TIME;
        socket->b_transport(trans, delay);
        trans.clear_extension(&wish_);
        CHECK(trans.get_response_status() == expected);
        CHECK(sc_time_stamp() == sc_time(end_us, SC_US));
    }

    /* A program takes 160 us: only a flush and a forced write wait for one. What was trimmed is
     * known to be zeros. */
    void main()
    {
        send(tlm::TLM_WRITE_COMMAND, 0);
        wish_.flush = true;
        send(tlm::TLM_IGNORE_COMMAND, 160);
        send(tlm::TLM_WRITE_COMMAND, 160, tlm::TLM_COMMAND_ERROR_RESPONSE);
        wish_.flush = false;
        wish_.fua = true;
        send(tlm::TLM_WRITE_COMMAND, 320);
        send(tlm::TLM_READ_COMMAND, 320, tlm::TLM_COMMAND_ERROR_RESPONSE);
        wish_.fua = false;
        send(tlm::TLM_IGNORE_COMMAND, 320, tlm::TLM_COMMAND_ERROR_RESPONSE);
        wish_.trim = true;
        send(tlm::TLM_IGNORE_COMMAND, 320);
        wish_.trim = false;
        send(tlm::TLM_READ_COMMAND, 320);
        CHECK(data_ == std::vector<unsigned char>(PAGE, 0));
        has_ended = true;
    }
};

int sc_main(int, char **)
{
    reprieve::tlm_drive drive("drive", SCENARIO);
    reprieve::tlm_drive buffered("buffered",
                                 std::string(SCENARIO) + "[buffer]\nacknowledge = \"back\"\n");
    flusher third("third");
    third.socket.bind(buffered.socket);
    initiator one("one", 0, false), other("other", 100, true);
    one.socket.bind(drive.socket);
    other.socket.bind(drive.socket);
    sc_start();
    CHECK(third.has_ended);
    CHECK(one.ended.size() == 6 && other.ended.size() == 6);
    /* Both write at 0, and the die does one thing after another: two programs to 160 and 320, the
     * first one's read, sent at 160, to 350, the other's, sent behind its END_RESP at 325, to 380,
     * and so on: the other is a program and a read behind. */
    const double one_us[] = {160, 350, 540, 730, 920, 1110};
    const double other_us[] = {320, 380, 700, 760, 1080, 1140};
    for (std::size_t number = 0; number < 6; number++) {
        CHECK(one.ended[number] == sc_time(one_us[number], SC_US));
        CHECK(other.ended[number] == sc_time(other_us[number], SC_US));
    }
    for (std::size_t number = 0; number < one.ended.size(); number++)
        std::printf("%s %s\n", one.ended[number].to_string().c_str(),
                    other.ended[number].to_string().c_str());
    return 0;
}
