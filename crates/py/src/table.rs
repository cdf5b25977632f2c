//! A table: named columns of one length, exported through Arrow.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch,
    RecordBatchIterator, StringArray, StructArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};
use arrow_select::{concat::concat_batches, take::take_record_batch};
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

/// Columns of one length. Exports share its memory.
#[pyclass(module = "reprieve._native", frozen)]
pub struct Table {
    pub batch: RecordBatch,
}

/// The values of a column from Python; null entries have any value.
#[derive(FromPyObject)]
enum Values<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Naturals(PyReadonlyArray1<'py, u64>),
    Numbers(PyReadonlyArray1<'py, f64>),
    Flags(PyReadonlyArray1<'py, bool>),
    Histograms(Histograms<'py>),
    Words(Vec<Option<String>>),
}

/// The buckets of several histograms in sequence, and the bounds of each.
#[derive(FromPyObject)]
struct Histograms<'py>(
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
);

/// A column from Python: its name, its values, and which of them are not null.
type NewColumn<'py> = (String, Values<'py>, Option<PyReadonlyArray1<'py, bool>>);

#[pymethods]
impl Table {
    #[new]
    fn new(columns: Vec<NewColumn<'_>>) -> PyResult<Table> {
        let arrays = columns
            .into_iter()
            .map(|(name, values, valid)| Ok((name, values.array(valid)?)))
            .collect::<PyResult<Vec<(String, ArrayRef)>>>()?;
        Table::of(arrays).map_err(refused)
    }

    /// Concatenates the rows of at least one table; all have the same columns.
    #[staticmethod]
    fn joined(py: Python<'_>, tables: Vec<PyRef<'_, Table>>) -> PyResult<Table> {
        let first = tables.first().ok_or_else(|| PyValueError::new_err("no table to join"))?;
        let schema = first.batch.schema();
        let batches: Vec<RecordBatch> = tables.iter().map(|table| table.batch.clone()).collect();
        let batch = py.detach(|| concat_batches(&schema, &batches)).map_err(refused)?;
        Ok(Table { batch })
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The values of a column, None for null.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.column(name)?;
        match column.data_type() {
            DataType::Int64 => PyList::new(py, column.as_primitive::<Int64Type>()),
            DataType::UInt64 => PyList::new(py, column.as_primitive::<UInt64Type>()),
            DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>()),
            DataType::Boolean => PyList::new(py, (0..column.len()).map(flag(column))),
            _ => {
                let words = Words::of(name, column)?;
                PyList::new(py, (0..column.len()).map(|row| words.at(row)))
            }
        }
    }

    /// The values of a column of numbers or flags; with nulls, as floats with NaN for them.
    fn array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        crate::need_numpy(py)?;
        let column = self.column(name)?;
        match column.data_type() {
            DataType::Int64 => Ok(numbers::<Int64Type>(py, column, |value| value as f64)),
            DataType::UInt64 => Ok(numbers::<UInt64Type>(py, column, |value| value as f64)),
            DataType::Float64 => Ok(numbers::<Float64Type>(py, column, |value| value)),
            DataType::Boolean if column.null_count() == 0 => {
                let flags: Vec<bool> = column.as_boolean().values().iter().collect();
                Ok(flags.into_pyarray(py).into_any())
            }
            _ => Err(other_type(name, column)),
        }
    }

    /// Marks the rows in which a column of strings equals a word.
    fn is_word<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        word: &str,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        crate::need_numpy(py)?;
        let column = self.column(name)?;
        let words = Words::of(name, column)?;
        let found: Vec<bool> = (0..column.len()).map(|row| words.at(row) == Some(word)).collect();
        Ok(found.into_pyarray(py))
    }

    /// At most `rows` rows from `start` on.
    fn slice(&self, start: usize, rows: usize) -> Table {
        let start = start.min(self.batch.num_rows());
        Table { batch: self.batch.slice(start, rows.min(self.batch.num_rows() - start)) }
    }

    /// Selects rows, in this order.
    fn take(&self, rows: PyReadonlyArray1<'_, i64>) -> PyResult<Table> {
        let rows = Int64Array::from_iter_values(rows.as_array().iter().copied());
        Ok(Table { batch: take_record_batch(&self.batch, &rows).map_err(refused)? })
    }

    /// Exports the table through Arrow's PyCapsule interface, in its own types.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema; // The interface allows a producer to keep to its own.
        let batches = [Ok(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        stream(py, FFI_ArrowArrayStream::new(Box::new(reader)))
    }
}

impl Table {
    /// A table of these columns, which may have nulls.
    pub fn of(columns: Vec<(String, ArrayRef)>) -> Result<Table, ArrowError> {
        let field = |(name, array): &(String, ArrayRef)| {
            Field::new(name.as_str(), array.data_type().clone(), true)
        };
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        Ok(Table { batch: RecordBatch::try_new(Arc::new(schema), arrays)? })
    }

    fn column(&self, name: &str) -> PyResult<&ArrayRef> {
        self.batch.column_by_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

impl Values<'_> {
    fn array(self, valid: Option<PyReadonlyArray1<'_, bool>>) -> PyResult<ArrayRef> {
        let nulls = valid.map(|valid| NullBuffer::from_iter(valid.as_array().iter().copied()));
        Ok(match self {
            Values::Integers(values) => {
                Arc::new(Int64Array::try_new(owned(&values).into(), nulls).map_err(refused)?)
            }
            Values::Naturals(values) => {
                Arc::new(UInt64Array::try_new(owned(&values).into(), nulls).map_err(refused)?)
            }
            Values::Numbers(values) => {
                Arc::new(Float64Array::try_new(owned(&values).into(), nulls).map_err(refused)?)
            }
            Values::Flags(values) => {
                let flags = BooleanBuffer::from_iter(values.as_array().iter().copied());
                Arc::new(BooleanArray::new(flags, nulls))
            }
            Values::Words(words) => Arc::new(StringArray::from(words)),
            Values::Histograms(buckets) => Arc::new(buckets.array()?),
        })
    }
}

impl Histograms<'_> {
    fn array(self) -> PyResult<ListArray> {
        let field = |name| Field::new(name, DataType::Int64, true);
        let fields = Fields::from(vec![field("upper_ns"), field("count")]);
        let side = |values| Arc::new(Int64Array::from(owned(values))) as ArrayRef;
        let sides = vec![side(&self.1), side(&self.2)];
        let buckets = StructArray::try_new(fields.clone(), sides, None).map_err(refused)?;
        // "element" is the name in Parquet's format, which readers show.
        let bucket = Arc::new(Field::new("element", DataType::Struct(fields), true));
        let offsets = OffsetBuffer::new(owned(&self.0).into());
        ListArray::try_new(bucket, offsets, Arc::new(buckets), None).map_err(refused)
    }
}

/// A column of strings, plain or as a dictionary.
enum Words<'a> {
    Each(&'a StringArray),
    OfFew(&'a dyn arrow_array::array::AnyDictionaryArray, Vec<usize>, &'a StringArray),
}

impl<'a> Words<'a> {
    fn of(name: &str, column: &'a ArrayRef) -> PyResult<Words<'a>> {
        if let Some(words) = column.as_string_opt::<i32>() {
            return Ok(Words::Each(words));
        }
        let few = column.as_any_dictionary_opt();
        let words = few.and_then(|few| few.values().as_string_opt::<i32>());
        match few.zip(words) {
            // An empty column needs no dictionary.
            Some((few, words)) if words.is_empty() => Ok(Words::OfFew(few, Vec::new(), words)),
            Some((few, words)) => Ok(Words::OfFew(few, few.normalized_keys(), words)),
            None => Err(other_type(name, column)),
        }
    }

    fn at(&self, row: usize) -> Option<&'a str> {
        match self {
            Words::Each(words) => words.is_valid(row).then(|| words.value(row)),
            Words::OfFew(few, numbers, words) => {
                few.is_valid(row).then(|| words.value(numbers[row]))
            }
        }
    }
}

/// Wraps an Arrow stream for other programs, which release it.
pub fn stream(py: Python<'_>, stream: FFI_ArrowArrayStream) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// Converts an Arrow error, which is the caller's fault.
pub fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn owned<T: Element + Copy>(values: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    values.as_array().to_vec()
}

fn flag(column: &ArrayRef) -> impl Fn(usize) -> Option<bool> {
    let flags = column.as_boolean();
    |row| flags.is_valid(row).then(|| flags.value(row))
}

fn numbers<'py, T: ArrowPrimitiveType>(
    py: Python<'py>,
    column: &ArrayRef,
    float: fn(T::Native) -> f64,
) -> Bound<'py, PyAny>
where
    T::Native: Element,
{
    let column = column.as_primitive::<T>();
    if column.null_count() == 0 {
        return column.values().to_vec().into_pyarray(py).into_any();
    }
    let values = column.iter().map(|value| value.map_or(f64::NAN, float));
    values.collect::<Vec<f64>>().into_pyarray(py).into_any()
}

fn other_type(name: &str, column: &ArrayRef) -> PyErr {
    PyTypeError::new_err(format!("the column {name} has the type {}", column.data_type()))
}
