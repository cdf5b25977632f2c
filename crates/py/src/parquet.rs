//! Tables in Parquet: written in row groups of one size, and read back in parts.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::table::{Table, refused, stream};

/// Rows of a part that is read.
const ROWS: usize = 1 << 17;

/// Converts tables to the bytes of one file, independent of the split of its rows into tables.
#[pyclass(module = "reprieve._native", frozen)]
pub struct ParquetWriter(Mutex<Option<Unfinished>>);

/// A file whose last row group is not full yet.
struct Unfinished {
    writer: ArrowWriter<Vec<u8>>,
    schema: SchemaRef,
    pending: Vec<RecordBatch>,
    rows: usize,
    group_rows: usize,
}

#[pymethods]
impl ParquetWriter {
    /// A file with the columns of `like`, in row groups of `group_rows` rows. `packed`: integers
    /// are written as differences, which suits those that mostly rise.
    #[new]
    fn new(like: PyRef<'_, Table>, group_rows: usize, packed: bool) -> PyResult<ParquetWriter> {
        let schema = like.batch.schema();
        let level = ZstdLevel::try_new(1).expect("a level that there is");
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            // For row groups and not pages: files with many columns and few rows would grow.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_max_row_group_row_count(Some(group_rows));
        let integers = schema.fields().iter().filter(|field| *field.data_type() == DataType::Int64);
        for field in integers.filter(|_| packed) {
            let path = ColumnPath::new(vec![field.name().clone()]);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties.build()))
            .map_err(unreadable)?;
        Ok(ParquetWriter(Mutex::new(Some(Unfinished {
            writer,
            schema,
            pending: Vec::new(),
            rows: 0,
            group_rows,
        }))))
    }

    /// Adds rows; returns the bytes of the row groups that they complete.
    fn write<'py>(
        &self,
        py: Python<'py>,
        table: PyRef<'_, Table>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let batch = table.batch.clone();
        let bytes = py.detach(|| match &mut *self.lock() {
            Some(file) => file.write(batch),
            None => Err(ParquetError::General("the file is finished".into())),
        });
        Ok(PyBytes::new(py, &bytes.map_err(unreadable)?))
    }

    /// Ends the file; returns the remaining bytes.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| match self.lock().take() {
            Some(file) => file.finish(),
            None => Err(ParquetError::General("the file is finished".into())),
        });
        Ok(PyBytes::new(py, &bytes.map_err(unreadable)?))
    }
}

impl ParquetWriter {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Unfinished>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unfinished {
    fn write(&mut self, batch: RecordBatch) -> Result<Vec<u8>, ParquetError> {
        self.rows += batch.num_rows();
        self.pending.push(batch);
        if self.rows >= self.group_rows {
            // At once: pages would otherwise end at the ends of tables.
            let rows = concat_batches(&self.schema, &self.pending)?;
            let whole = self.rows - self.rows % self.group_rows;
            for start in (0..whole).step_by(self.group_rows) {
                self.writer.write(&rows.slice(start, self.group_rows))?;
            }
            self.rows -= whole;
            self.pending = vec![rows.slice(whole, self.rows)];
        }
        Ok(std::mem::take(self.writer.inner_mut()))
    }

    fn finish(mut self) -> Result<Vec<u8>, ParquetError> {
        if self.rows > 0 {
            self.writer.write(&concat_batches(&self.schema, &self.pending)?)?;
        }
        self.writer.into_inner()
    }
}

/// Reads a file in parts, with all columns or some.
#[pyclass(module = "reprieve._native", frozen)]
pub struct ParquetReader {
    schema: SchemaRef,
    parts: Mutex<Option<ParquetRecordBatchReader>>,
}

#[pymethods]
impl ParquetReader {
    #[new]
    #[pyo3(signature = (path, names=None, group=None))]
    fn new(
        path: PathBuf,
        names: Option<Vec<String>>,
        group: Option<usize>,
    ) -> PyResult<ParquetReader> {
        let mut file =
            ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(unreadable)?;
        let mut columns = ProjectionMask::all();
        if let Some(names) = names {
            for name in &names {
                if file.schema().column_with_name(name).is_none() {
                    return Err(PyKeyError::new_err(name.clone()));
                }
            }
            columns =
                ProjectionMask::columns(file.parquet_schema(), names.iter().map(String::as_str));
        }
        if let Some(group) = group {
            // A file without rows has no group; its first is empty.
            let groups = file.metadata().num_row_groups();
            if group >= groups.max(1) {
                return Err(PyValueError::new_err(format!("there is no row group {group}")));
            }
            file = file.with_row_groups((group..groups.min(group + 1)).collect());
        }
        let reader = file.with_projection(columns).with_batch_size(ROWS).build();
        let reader = reader.map_err(unreadable)?;
        Ok(ParquetReader { schema: reader.schema(), parts: Mutex::new(Some(reader)) })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let next = py.detach(|| self.lock().as_mut().and_then(Iterator::next));
        let batch = next.transpose().map_err(refused)?;
        Ok(batch.map(|batch| Table { batch }))
    }

    /// Reads all remaining rows as one table.
    fn read(&self, py: Python<'_>) -> PyResult<Table> {
        let batch = py.detach(|| {
            let parts = self.lock().take().into_iter().flatten();
            concat_batches(&self.schema, &parts.collect::<Result<Vec<_>, _>>()?)
        });
        Ok(Table { batch: batch.map_err(refused)? })
    }

    /// Exports the remaining rows through Arrow's PyCapsule interface, to be read on demand.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema; // The interface allows a producer to keep to its own.
        let parts = self.lock().take();
        let parts = parts.ok_or_else(|| PyValueError::new_err("the file has been read"))?;
        stream(py, FFI_ArrowArrayStream::new(Box::new(parts)))
    }
}

impl ParquetReader {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<ParquetRecordBatchReader>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unreadable(error: ParquetError) -> PyErr {
    let text = error.to_string();
    PyValueError::new_err(text.strip_prefix("Parquet error: ").unwrap_or(&text).to_owned())
}
