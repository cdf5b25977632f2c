//! The formats whose rows are columns of text, each a row of one table.
//!
//! A row has its source as a comment, the name, the sentence of the documentation, the separator,
//! the error of a row with another number of fields, and the columns in their order. Between
//! braces follow fields of `Table` and, behind a semicolon, of `Format`.

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::blktrace::{device_name, device_number};
use super::fields::{bit, decimal, hexadecimal, integer, operation, small_integer};
use super::table::Column::{Address, Checked, Device, Fua, Gap, Host, Ignored, Length, Rest, Time};
use super::table::Separator::{Blanks, Byte};
use super::table::{Column, DISKS_PER_HOST, Fields, Read, Table, Unit, write};
use super::{ADDRESS_BYTES_MAX, DropReason, Format, Names, PLAIN, Row, WRITER, Writer, scsi};

macro_rules! tables {
    ($($name:literal $doc:literal $separator:expr, $form:literal [$($column:expr),* $(,)?] {
        $($table_key:ident: $table_value:expr),* ; $($key:ident: $value:expr),* $(,)?
    })*) => {
        pub(super) const TABLES: &[Format] = &[$(Format {
            entry: Entry { name: $name, doc: $doc },
            has_devices: false $(|| matches!($column, Device(..)))*,
            new_parser: |context| {
                let table = Table::new($separator, &[$($column),*]);
                Table { form: Some($form), $($table_key: $table_value,)* ..table }.parser(context)
            },
            $($key: $value,)*
            ..PLAIN
        }),*];
    };
}

tables! {
    // Alibaba Cloud, 2020, CC-BY 4.0: virtual disks, Unix time.
    "alibaba" "Alibaba block traces: device,R or W,offset,bytes,microseconds."
    Byte(b','), "it needs device_id,opcode,offset,length,timestamp"
    [
        DEVICE, R_OR_W, OFFSET, LENGTH,
        Time(|us| integer(us)?.checked_mul(1000),
            "the timestamp must be a whole number of microseconds"),
    ] {;}
    // The traces with which the cache policy ARC was published (Megiddo and Modha, FAST 2003).
    "arc" "ARC's .lis: block blocks ignored number; the scenario gives operation and time."
    Blanks, "it needs four fields: block blocks ignored number"
    [
        BLOCK, BLOCKS, Ignored,
        Checked(|field| integer(field).is_some(), "the number must be a whole number"),
    ]
    {; options: &["row_op", "row_interval_us", "sector_bytes"] }
    // The blkreplay project. Preamble and heading may come again where files were joined.
    "blkreplay" "blkreplay .load: seconds ; sector ; sectors ; R, W or D ; delay ; duration."
    Byte(b';'), "it needs start ; sector ; length ; op"
    [
        Time(DECIMAL_S, "the start must be seconds, such as 0.449518165"), SECTOR, SECTORS,
        Column::Op(blkreplay_op, "the operation must be R, W or D, with F, A, S or M behind it"),
        Rest,
    ] {
        before: before_blkreplay;
        writer: Some(Writer {
            heading: "start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n",
            row: |raw, out| {
                let row = "{s:7} ; {sector:12} ; {sectors:4} ; {op} ; 0.0 ; 0.0";
                write(row, &["R", "W", "D"], raw, out)
            },
            holds_devices: false,
            ..WRITER
        }),
    }
    // libCacheSim's text form of CloudPhysics' traces; the binary form, `vscsi`, has microseconds.
    "cloudphysics-csv" "CloudPhysics CSV: version,seconds,SCSI code (hexadecimal),bytes,sector."
    Byte(b','), "it needs version,time,op,size,lbn"
    [
        Checked(|field| matches!(integer(field), Some(1 | 2)), "the version must be 1 or 2"),
        Time(SECONDS, "the time must be a whole number of seconds"),
        Column::Op(|code| u8::try_from(hexadecimal(code)?).ok().map(scsi::op),
            "op must be a code of SCSI in hexadecimal, such as 2a"),
        SIZE, Address(IN_SECTORS, integer, "the lbn must be a whole number"),
    ]
    {; options: &["same_second"], whole_seconds: true }
    // Sysinternals DiskMon, whose clock ticks every 16 ms or so; sectors near 2^63 are dropped.
    "diskmon" "DiskMon text: number, seconds, duration, disk, Read or Write, sector, sectors."
    Byte(b'\t'), "it needs seven fields between tabs"
    [
        Ignored, Time(DECIMAL_S, "the time must be seconds, such as 0.016375"), Ignored,
        Device(small_integer, "the disk must be a whole number"),
        Column::Op(read_or_write, "the request must be Read or Write"), SECTOR, SECTORS,
    ] {
        after: |row| {
            let is_far = row.offset_bytes >= ADDRESS_BYTES_MAX;
            Ok(is_far.then_some(DropReason::AddressOutOfRange))
        };
    }
    // The simulator DiskSim (manual of version 4.0, 4.1.1). Without a fraction in the times and
    // with no flag but the read bit, a row is one of mqsim.
    "disksim" "DiskSim ASCII: ms device block blocks flags (hexadecimal, bit 0: read)."
    Blanks, "it needs five fields: time device block blocks flags"
    [
        Time(DECIMAL_MS, "the time must be milliseconds, such as 5265.313"), DEVICE, BLOCK,
        BLOCKS, Column::Op(FLAGS, "the flags must be a hexadecimal number"),
    ] {;
        options: &["sector_bytes"],
        reads_like: Some("mqsim"),
        guess: Some(
            "format disksim was found by its columns alone: that times are milliseconds and \
             addresses sectors is a guess; for seconds give columns = \
             \"time_s,device,sector,sectors,flags_hex\", else name the format",
        ),
        writer: Some(Writer {
            row: |raw, out| write("{ms} {device} {sector} {sectors} {op}", ONE_READS, raw, out),
            ..WRITER
        }),
    }
    // The traces with which DiskSim's models were validated.
    "disksim-validate"
    "DiskSim's validate: R or W, buffer, block, blocks, service us, us to the next."
    Blanks, "it needs six fields: R|W buffer block blocks service next"
    [
        R_OR_W, Ignored, BLOCK, BLOCKS,
        Checked(|field| DECIMAL_US(field).is_some(),
            "the service time must be microseconds, such as 15362.00000"),
        Gap(DECIMAL_US, "the time to the next must be microseconds"),
    ]
    {; options: &["sector_bytes"] }
    // Florida International University (SNIA IOTTA). A process may have blanks in its name.
    "fiu" "FIU: ns pid process sector sectors W or R major minor md5."
    Blanks, "it needs time pid process block size W|R major minor md5"
    [
        Time(integer, "the time must be a whole number of nanoseconds"), Ignored, Ignored, Rest,
        Address(IN_SECTORS, integer, "the block must be a whole number"),
        Length(IN_SECTORS, integer, "the size must be a whole number of sectors"), R_OR_W,
        Device(|field| device_number(small_integer(field)?, 0), MAJOR_AND_MINOR),
        Device(|field| device_number(0, small_integer(field)?), MAJOR_AND_MINOR), Ignored,
    ]
    {; device_name: device_name }
    // Fujitsu's K5 cloud (SNIA IOTTA).
    "k5cloud" "Fujitsu K5 cloud: volume,seconds,R or W,offset,bytes."
    Byte(b','), "it needs volume,seconds,R or W,offset,length"
    [
        VOLUME, Time(DECIMAL_S, "the time must be seconds, such as 86400.121837"), R_OR_W,
        OFFSET, LENGTH,
    ] {;}
    // The simulator MQSim, which stops at a row of another number of fields.
    "mqsim" "MQSim: ns device sector sectors type (0 write, 1 read)."
    Blanks, "it needs five fields: time device sector sectors type"
    [WHOLE_NS, DEVICE, SECTOR, SECTORS, TYPE]
    {; writer: Some(Writer { row: |raw, out| write(MQSIM, ONE_READS, raw, out), ..WRITER }) }
    // The form in which slices of MSR volumes circulate. Its rows cannot be distinguished from
    // those of disksim whose blocks are multiples of 512.
    "msbytes" "Five columns in bytes: ms device offset bytes type (1 read, 0 write)."
    Blanks, "it needs five fields: time device offset bytes type"
    [
        Time(|ms| Some(ms).filter(|ms| ms.contains(&b'.')).and_then(DECIMAL_MS),
            "the time must be milliseconds with a decimal point, such as 223.412"),
        DEVICE, Address(IN_BYTES, WHOLE_SECTORS, "the offset must be a multiple of 512 bytes"),
        Length(IN_BYTES, WHOLE_SECTORS, "the length must be a multiple of 512 bytes"), TYPE,
    ] {;
        guess: Some(
            "format msbytes was found by its columns alone: that times are milliseconds and \
             addresses bytes is a guess; for seconds give columns = \
             \"time_s,device,offset_bytes,bytes,op_read_1\", else name the format",
        ),
        writer: Some(Writer {
            row: |raw, out| write("{ms} {device} {offset_bytes} {bytes} {op}", ONE_READS, raw, out),
            ..WRITER
        }),
    }
    // MSR Cambridge (SNIA IOTTA 388). Slices that circulate have a row number and a blank in front.
    "msr" "MSR Cambridge CSV: FILETIME,host,disk,Read or Write,offset,bytes,response."
    Byte(b','), "it needs Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"
    [
        Time(numbered_ticks,
            "the timestamp must be a FILETIME of 100 ns ticks, before the year 2185"),
        Host,
        Device(|disk| small_integer(disk).filter(|disk| *disk < DISKS_PER_HOST),
            "the disk must be a number below 1000"),
        Column::Op(read_or_write, "the type must be Read or Write"), OFFSET, SIZE, Rest,
    ] {;
        device_name: volume_name,
        writer: Some(Writer {
            row: |raw, out| match raw.device {
                DISKS_PER_HOST.. => Err("msr holds disk numbers below 1000 of one host"),
                _ => {
                    let row = "{100ns},host,{device},{op},{offset_bytes},{bytes},0";
                    write(row, &["Read", "Write"], raw, out)
                }
            },
            tick_ns: 100,
            whole_sectors: false,
            ..WRITER
        }),
    }
    // `reprieve serve --record`: times of the model. The last two are the drive's answer.
    "recording" "reprieve serve --record: arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns."
    Byte(b','), "it needs arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns"
    [
        Time(integer, "the arrival must be a whole number of nanoseconds"),
        Column::Op(ANY_OP, "the operation must be read, write, trim or flush"), SECTOR,
        Length(IN_BYTES, |bytes| small_integer(bytes).map(u64::from),
            "the length must be a whole number of bytes"),
        Fua(FUA_OF_WRITES), Ignored, Ignored,
    ]
    { after: after_recorded; may_be_cut: true }
    // The Storage Performance Council (revision 1.0.1, 2002), as UMass published Financial1,
    // Financial2 and WebSearch. Each application storage unit has its own addresses.
    "spc" "SPC (UMass): ASU,sector,bytes,r or w,seconds; each ASU is a device."
    Byte(b','), "it needs ASU,LBA,Size,Opcode,Timestamp"
    [
        Device(small_integer, "the ASU must be a whole number"),
        Address(IN_SECTORS, integer, "the LBA must be a whole number of 512-byte blocks"), SIZE,
        R_OR_W, Time(DECIMAL_S, "the timestamp must be seconds, such as 0.026214"), Rest,
    ] {;
        writer: Some(Writer {
            row: |raw, out| write("{device},{sector},{bytes},{op},{s}", &["r", "w"], raw, out),
            ..WRITER
        }),
    }
    // The simulator SSDsim, which keeps sector numbers in 32 bits.
    "ssdsim" "SSDsim: ns device sector sectors op (1 read, 0 write); the columns of mqsim."
    Blanks, "it needs five fields: time device sector sectors type"
    [WHOLE_NS, DEVICE, SECTOR, SECTORS, TYPE] {;
        reads_like: Some("mqsim"),
        writer: Some(Writer {
            row: |raw, out| match raw.offset_bytes / SECTOR_BYTES {
                0x1_0000_0000.. => Err("ssdsim holds sector numbers below 2^32"),
                _ => write(MQSIM, ONE_READS, raw, out),
            },
            ..WRITER
        }),
    }
    // A cluster of virtual desktops (Lee et al., SYSTOR 2017; SNIA IOTTA 4964), a file for each
    // hour and unit. Rows that lack fields occur, and are dropped.
    "systor17" "SYSTOR '17: seconds,response,R or W,unit,offset,bytes; a folder of such files."
    Byte(b','), "it needs Timestamp,Response,IOType,LUN,Offset,Size"
    [
        Time(DECIMAL_S, "the timestamp must be seconds of Unix time"),
        Checked(|field| field.is_empty() || DECIMAL_S(field).is_some(),
            "the response must be seconds, or nothing"),
        R_OR_W, Device(small_integer, "the LUN must be a whole number"), OFFSET, SIZE,
    ]
    { before: before_systor; }
    // Tencent Cloud (SNIA IOTTA): Unix time.
    "tencent" "Tencent block traces: seconds,sector,sectors,0 read or 1 write,volume."
    Byte(b','), "it needs Timestamp,Offset,Size,IOType,VolumeID"
    [
        Time(SECONDS, "the timestamp must be a whole number of seconds"),
        Address(IN_SECTORS, integer, "the offset must be a whole number of sectors"),
        Length(IN_SECTORS, integer, "the size must be a whole number of sectors"),
        Column::Op(READ_0, "the type must be 0 for a read or 1 for a write"), VOLUME,
    ]
    {; options: &["same_second"], whole_seconds: true }
}

const IN_BYTES: Unit = Unit::Bytes(1);
const IN_SECTORS: Unit = Unit::Bytes(SECTOR_BYTES);

const DEVICE: Column = Device(small_integer, "the device must be a whole number");
const VOLUME: Column = Device(small_integer, "the volume must be a whole number");
const OFFSET: Column = Address(IN_BYTES, integer, "the offset must be a whole number of bytes");
const SECTOR: Column = Address(IN_SECTORS, integer, "the sector must be a whole number");
const BLOCK: Column = Address(Unit::Blocks, integer, "the block must be a whole number");
const LENGTH: Column = Length(IN_BYTES, integer, "the length must be a whole number of bytes");
const SIZE: Column = Length(IN_BYTES, integer, "the size must be a whole number of bytes");
const SECTORS: Column = Length(IN_SECTORS, integer, "the length must be a whole number of sectors");
const BLOCKS: Column = Length(Unit::Blocks, integer, "the length must be a whole number of blocks");
const R_OR_W: Column = Column::Op(read_or_write, "the operation must be R or W, or Read or Write");
const TYPE: Column = Column::Op(READ_1, "the type must be 0 for a write or 1 for a read");
/// Milliseconds have a point, and are of `disksim`.
const WHOLE_NS: Column = Time(
    |field| Some(field).filter(|field| !field.contains(&b'.')).and_then(integer),
    "the time must be a whole number of nanoseconds without a point; milliseconds with one are \
     of format disksim",
);
const MQSIM: &str = "{ns} {device} {sector} {sectors} {op}";
/// A read and a write as `TYPE` has them.
const ONE_READS: &[&str] = &["1", "0"];
const MAJOR_AND_MINOR: &str = "major and minor must be below 4096 and 1048576";
const FUA_OF_WRITES: &str = "fua must be 0, or 1 of a write";

/// Reads the operation of a field.
type ReadOp = Read<Result<Op, DropReason>>;

const ANY_OP: ReadOp = |field| operation(field).map(Ok);
pub(super) const READ_1: ReadOp = |field| bit(field).map(read_if);
pub(super) const READ_0: ReadOp = |field| bit(field).map(|bit| read_if(!bit));
/// Hexadecimal flags, of which bit 0 says read.
pub(super) const FLAGS: ReadOp = |field| hexadecimal(field).map(|flags| read_if(flags & 1 == 1));
pub(super) const DECIMAL_US: Read<u64> = |field| decimal(field, 3);
pub(super) const DECIMAL_MS: Read<u64> = |field| decimal(field, 6);
pub(super) const DECIMAL_S: Read<u64> = |field| decimal(field, 9);
const SECONDS: Read<u64> = |field| integer(field)?.checked_mul(1_000_000_000);
/// Ticks of 100 ns.
pub(super) const TICKS: Read<u64> = |field| integer(field)?.checked_mul(100);
const WHOLE_SECTORS: Read<u64> = |field| integer(field).filter(|bytes| bytes % SECTOR_BYTES == 0);

const fn read_if(reads: bool) -> Result<Op, DropReason> {
    Ok(if reads { Op::Read } else { Op::Write })
}

fn read_or_write(field: &[u8]) -> Option<Result<Op, DropReason>> {
    ANY_OP(field).filter(|op| matches!(op, Ok(Op::Read | Op::Write)))
}

/// The letter of blktrace, then forced unit access, read ahead, synchronous and metadata, which
/// change nothing for a drive.
fn blkreplay_op(field: &[u8]) -> Option<Result<Op, DropReason>> {
    let (first, flags) = field.split_first()?;
    let ops = [(b'R', Op::Read), (b'W', Op::Write), (b'D', Op::Trim)];
    let op = ops.into_iter().find(|(letter, _)| letter.eq_ignore_ascii_case(first));
    op.filter(|_| flags.iter().all(|flag| b"FASM".contains(flag))).map(|(_, op)| Ok(op))
}

/// Passes over prose, which has no semicolons, and headings.
fn before_blkreplay(line: &[u8]) -> Result<Option<Row>, &'static str> {
    let line = line.trim_ascii_start();
    let first = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    match line.first() {
        _ if !line.contains(&b';') || first.eq_ignore_ascii_case(b"start") => Ok(Some(Row::Other)),
        Some(first) if first.is_ascii_digit() => Ok(None),
        _ => Err("a row begins with its start in seconds, such as 0.449518165"),
    }
}

/// Passes over headings, which each file of a trace has, and drops rows that lack fields.
fn before_systor(line: &[u8]) -> Result<Option<Row>, &'static str> {
    let start = line.trim_ascii_start().get(.."timestamp".len());
    if start.is_some_and(|start| start.eq_ignore_ascii_case(b"timestamp")) {
        return Ok(Some(Row::Other));
    }
    let is_short = line.iter().filter(|&&byte| byte == b',').count() < 5;
    Ok(is_short.then_some(Row::Drop(DropReason::Incomplete)))
}

fn after_recorded(row: &Fields) -> Result<Option<DropReason>, &'static str> {
    match row.op {
        Some(Ok(op)) if row.fua && op != Op::Write => Err(FUA_OF_WRITES),
        Some(Ok(Op::Flush)) if (row.offset_bytes, row.bytes) != (0, 0) => {
            Err("a flush has no address and no length")
        }
        _ if row.bytes % SECTOR_BYTES != 0 => Err("the length must be a multiple of 512 bytes"),
        _ => Ok(None),
    }
}

/// The name of a volume, as of its file: `usr_0`.
fn volume_name(device: u32, names: &Names) -> Option<String> {
    let host = names.name(device / DISKS_PER_HOST)?;
    Some(format!("{host}_{}", device % DISKS_PER_HOST))
}

/// Ticks, perhaps behind a row number and a blank.
fn numbered_ticks(field: &[u8]) -> Option<u64> {
    match field.iter().rposition(u8::is_ascii_whitespace) {
        Some(blank) if integer(field[..blank].trim_ascii()).is_some() => TICKS(&field[blank + 1..]),
        _ => TICKS(field),
    }
}
