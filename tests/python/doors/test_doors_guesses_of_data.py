"""First guesses of people who know pandas, polars, Arrow and Hugging Face: each works, or names what does."""

import numpy as np
import pytest
import varlen as vl

Joint = vl.JointNestedRaggedTensorDict
RAW = {
    "sex": ["M", "F"],
    "age": [30, 41],
    "code": [[["HR", "BP"], ["RR"]], [["BP"]]],
    "time": [[0.5, 1.25], [3.0]],
}


@pytest.fixture
def names(tmp_path):
    J = Joint(RAW)
    J.save(tmp_path / "x.nrt")
    return {"J": J, "ds": vl.open(tmp_path / "x.nrt"), "vl": vl, "np": np, "path": tmp_path / "y.nrt"}


WORK = {
    "len(ds)": 2,
    "list(ds)[1].to_list()['sex']": "F",
    "[row.to_list()['age'] for row in ds]": [30, 41],
    "ds[0].to_list()": {"sex": "M", "age": 30, "code": [["HR", "BP"], ["RR"]], "time": [0.5, 1.25]},
    "ds[-1].to_list()['time']": [3.0],
    "ds[:1].to_list()['age']": [30],
    "ds[[1, 0]].to_list()['age']": [41, 30],
    "ds[np.array([True, False])].to_list()['age']": [30],
    "ds['age'].tolist()": [30, 41],
    "ds['time'].to_list()": [[0.5, 1.25], [3.0]],
    "ds['code'].shape": (2, None, None),
    "'age' in ds": True,
    "sorted(ds.keys())": ["age", "code", "sex", "time"],
    "ds.schema['time'].name": "float32",
    "ds.head(1).to_list()['sex']": ["M"],
    "J.head(1).to_list()['sex']": ["M"],
    "ds.describe()['name'][0]": "dim1/lengths",
    "J.describe()['count'][0]": 2,
    "J['time'].describe()['max'][1]": 3.0,
    "ds.filter(lambda columns: columns['age'] > 35)[:].to_list()['sex']": ["F"],
    "ds.filter(lambda columns: columns['sex'] == 'M')[:].to_list()['age']": [30],
    "ds.filter(ds['age'] > 35)[:].to_list()['age']": [41],
    "len(ds.select([0]))": 1,
    "sorted(ds.shuffle(seed=1)[:].to_list()['age'])": [30, 41],
    "ds.map(lambda row: {'age': row['age'] + 1}, path)[:].to_list()": {"age": [31, 42]},
    "ds[:].to_list()['code']": RAW["code"],
    "J[J['age'] > 35].to_list()['age']": [41],
    "[len(t) for t in J['time']]": [2, 1],
    "dict(J.vocabularies)['sex']": ("[PAD]", "M", "F"),
    "vl.Ragged.from_list([['to', 'be'], ['or']]).to_list()": [["to", "be"], ["or"]],
    "(vl.Ragged.from_list([['to', 'be'], ['or']]) == 'be').to_list()": [[False, True], [False]],
    "'HR' in str(ds)": True,
    "'HR' in str(ds[0])": True,
    "'HR' in ds._repr_html_()": True,
}

REFUSED = {
    "ds['none']": (KeyError, "'none' is no key of these rows; there are"),
    "ds[5]": (IndexError, "Index 5 is out of range"),
    "ds.columns": (AttributeError, r"use \.keys\(\)"),
    "ds.column_names": (AttributeError, r"use \.keys\(\)"),
    "ds.features": (AttributeError, r"use \.schema"),
    "ds.shape": (AttributeError, r"use len\(ds\)"),
    "ds.num_rows": (AttributeError, r"use len\(ds\)"),
    "ds.info()": (AttributeError, r"use print\(ds\) or \.describe\(\)"),
    "ds.to_list()": (AttributeError, r"use ds\[:\]\.to_list\(\)"),
    "ds.to_dict()": (AttributeError, r"use ds\[:\]\.to_list\(\)"),
    "ds.to_numpy()": (AttributeError, r"use ds\[key\] or \.batch\(\)"),
    "ds.take([0])": (AttributeError, r"use \.select\(\)"),
    "ds.tail()": (AttributeError, r"use ds\[-n:\]"),
    "ds.sample(1)": (AttributeError, r"use \.shuffle\(\)"),
    "ds.iloc[0]": (AttributeError, r"use ds\[...\]"),
    "ds.apply(len)": (AttributeError, r"use \.map\(\)"),
    "ds.train_test_split(0.5)": (AttributeError, r"use \.split\(\)"),
    "ds.values": (AttributeError, r"use ds\[key\]"),
    "J.columns": (AttributeError, r"use \.keys\(\)"),
    "J.to_dict()": (AttributeError, r"use \.to_list\(\)"),
    "J.tail()": (AttributeError, r"use J\[-n:\]"),
    "J.iloc[0]": (AttributeError, r"use J\[...\]"),
    "J['time'].pad()": (AttributeError, r"use \.to_dense\(\) or \.to_padded\(\)"),
    "J['time'].row_splits": (AttributeError, r"use \.offsets"),
    "J['time'].row_lengths()": (AttributeError, r"use \.lengths"),
    "J['time'].flat_values": (AttributeError, r"use \.values"),
    "J['time'].value_rowids()": (AttributeError, r"use \.row_ids"),
    "J['time'].to_tensor()": (AttributeError, r"use \.to_dense\(fill=...\)"),
    "J['time'].nrows()": (AttributeError, r"use len\(r\)"),
    "J['time'].explode()": (AttributeError, r"use \.values and \.row_ids"),
    "J['time'].map(len)": (AttributeError, "use "),
    "J['time'].to_torch()": (AttributeError, r"use \.torch\(\)"),
    "J.to_numpy()": (AttributeError, r"use J\[key\]\.to_numpy\(\)"),
    "J.to_torch()": (AttributeError, r"use varlen\.data\.Dataset\(J\)\.batch"),
    "J.tolist()": (AttributeError, r"use \.to_list\(\)"),
    "ds.to_torch()": (AttributeError, r"use \.batch\(rows, framework='torch'\)"),
    "ds.tolist()": (AttributeError, r"use ds\[:\]\.to_list\(\)"),
    "vl.Ragged.from_row_splits([1], [0, 1])": (AttributeError, r"use from_offsets\(\)"),
    "vl.pad([[1]])": (AttributeError, r"see varlen\.ops\.pad"),
    "vl.tensor([[1]])": (AttributeError, r"see varlen\.Ragged"),
    "vl.ops.softmx([[1]])": (AttributeError, r"see varlen\.ops\.softmax"),
    "ds.skip(1)": (AttributeError, r"use ds\[n:\]"),
    "J['time'].filter(len)": (AttributeError, r"use r\[mask\]"),
    "J['time'].where(1, 0)": (AttributeError, r"use numpy\.where"),
    "J['time'].shuffle()": (AttributeError, r"use r\[rng\.permutation"),
    "J['time'].value_counts()": (AttributeError, r"use \.describe\(\)"),
    "vl.data.Loader(ds, batch_sizes=2)": (TypeError, "did you mean 'batch_size'"),
    "vl.data.TokenBudget([1], 3, shuffled=True)": (TypeError, "did you mean 'shuffle'"),
    "vl.concat([J, J])": (AttributeError, r"see .*varlen\.concatenate"),
    "ds.batch([0], framewrk='torch')": (TypeError, "did you mean 'framework'"),
    "ds.filter(lambda row: row['age'])": (TypeError, "a function gets arrays of one value a row by key"),
    "ds.filter(5)": (TypeError, "function: expected a bool for each row"),
}


@pytest.mark.parametrize("guess", WORK)
def test_a_first_guess_works(names, guess):
    assert eval(guess, names) == WORK[guess]


@pytest.mark.parametrize("guess", REFUSED)
def test_a_first_guess_names_the_way(names, guess):
    error, text = REFUSED[guess]
    with pytest.raises(error, match=text):
        eval(guess, names)
