"""Files that are truncated, corrupted, hostile or from the future get our error, in clear words; so does bad saving."""

from __future__ import annotations

import json
import os
import pickle
import struct
import tracemalloc
import zipfile
import zlib
from datetime import datetime

import numpy as np
import pytest
from catalogue import fitted, iris
from rewrite import parts_of, write, write_raw
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import planewise as pw
from planewise.store import ModelFileError
from planewise.store import container as _container
from planewise.store.file import SCHEMA
from planewise.store.file import versions as versions_of
from planewise.trees import Forest
from planewise.trees.saved import TREE_ARRAYS


@pytest.fixture
def tree_file(tmp_path):
    path = tmp_path / "tree.planewise"
    pw.save(fitted("tree, frame")[0], path)
    return path


@pytest.fixture
def boost_file(tmp_path):
    path = tmp_path / "boost.planewise"
    pw.save(fitted("boosting")[0], path)
    return path


def refused(path, words):
    with pytest.raises(ModelFileError, match=words) as caught:
        pw.load(path)
    assert isinstance(caught.value, ValueError)
    assert repr(os.fspath(path)) in str(caught.value)


def test_a_file_cut_anywhere_is_refused(tree_file):
    whole = tree_file.read_bytes()
    for length in {0, 1, 30, len(whole) // 2, len(whole) - 1}:
        tree_file.write_bytes(whole[:length])
        refused(tree_file, "is not a model file, or is truncated or damaged")


@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps({"a": 1}), b"PK\x05\x06" + bytes(18)])
def test_another_file_is_refused(tmp_path, content):
    (tmp_path / "m").write_bytes(content)
    refused(tmp_path / "m", "is not a model file|not a planewise model")


@pytest.mark.parametrize("part", [_container.MODEL, _container.ARRAYS])
def test_a_changed_byte_is_found_by_the_checksum(tree_file, part):
    with zipfile.ZipFile(tree_file) as archive:
        contents = {name: bytearray(archive.read(name)) for name in archive.namelist()}
    contents[part][len(contents[part]) // 2] ^= 1
    with zipfile.ZipFile(tree_file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, bytes(content))
    refused(tree_file, "damaged: its content does not have the checksum")


@pytest.mark.parametrize("version", [-1, 0, SCHEMA + 1, 8])
def test_a_file_of_another_version_is_refused_and_the_version_is_named(tree_file, version):
    document, arrays = parts_of(tree_file)
    write(tree_file, document | {"schema": version, "versions": {"planewise": "9.0"}}, arrays)
    refused(tree_file, rf"written by planewise 9\.0 in version {version} .* reads only version {SCHEMA};")


@pytest.mark.parametrize("version", [None, "1", 1.0, True, [1], 10**30])
def test_a_file_without_a_version_is_refused(tree_file, version):
    document, arrays = parts_of(tree_file)
    write(tree_file, document | {"schema": version}, arrays)
    refused(tree_file, "model file without a version")


def test_a_zip_bomb_is_refused_before_it_unpacks(tmp_path):
    write_raw(tmp_path / "bomb", b"{}", bytes(200 << 20))
    refused(tmp_path / "bomb", "would unpack from")


def test_a_stream_longer_than_promised_is_cut_off(tree_file):
    whole = bytearray(tree_file.read_bytes())
    at = whole.rfind(b"PK\x01\x02", 0, whole.rfind(_container.ARRAYS.encode()))
    whole[at + 24 : at + 28] = (8).to_bytes(4, "little")  # the size in the directory
    tree_file.write_bytes(whole)
    refused(tree_file, "has two headers of arrays.bin that differ")
    at = whole.find(_container.ARRAYS.encode()) - 30
    whole[at + 22 : at + 26] = (8).to_bytes(4, "little")  # and in the header before it
    tree_file.write_bytes(whole)
    refused(tree_file, "damaged: arrays.bin does not end where it should")


def test_bytes_between_the_parts_are_refused(tree_file):
    whole = tree_file.read_bytes()
    second = whole.index(b"PK\x03\x04", 1)
    tree_file.write_bytes(whole[:second] + b"x" + whole[second:])
    refused(tree_file, "bytes before, between or after|is not a model file")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"comment": b"hidden"}, "has a comment"),
        ({"extra": b"\x99\x99\x04\x00abcd"}, "has extra fields for sha256.txt"),
    ],
)
def test_what_other_readers_skip_is_refused(tree_file, entry, words):
    with zipfile.ZipFile(tree_file) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tree_file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            info = zipfile.ZipInfo(name)
            if name == _container.CHECKSUM:
                for key, value in entry.items():
                    setattr(info, key, value)
            archive.writestr(info, content)
    refused(tree_file, words)


def test_bytes_after_a_packed_stream_are_refused(tree_file):
    document, arrays = parts_of(tree_file)
    text, content = json.dumps(document).encode(), b"".join(array.tobytes() for array in arrays)
    parts = {
        _container.MODEL: text,
        _container.ARRAYS: content,
        _container.CHECKSUM: _container._checksum(text, content),
    }
    with zipfile.ZipFile(tree_file, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, zlib.compress(part, wbits=-15) + b"hidden")
            info = archive.getinfo(name)
            info.compress_type, info.file_size, info.CRC = zipfile.ZIP_DEFLATED, len(part), zlib.crc32(part)
    whole = bytearray(tree_file.read_bytes())
    with zipfile.ZipFile(tree_file) as archive:
        for info in archive.infolist():  # as the directory has them
            struct.pack_into("<H", whole, info.header_offset + 8, info.compress_type)
            struct.pack_into("<L", whole, info.header_offset + 14, info.CRC)
            struct.pack_into("<L", whole, info.header_offset + 22, info.file_size)
    tree_file.write_bytes(whole)
    refused(tree_file, "does not end where it should")


def test_no_byte_of_the_headers_can_be_changed_unnoticed(tree_file):
    whole = tree_file.read_bytes()
    with zipfile.ZipFile(tree_file) as archive:
        starts = [info.header_offset for info in archive.infolist()]
    for start in starts:
        for at in range(30 + len(_container.MODEL)):
            changed = bytearray(whole)
            changed[start + at] ^= 0x41
            tree_file.write_bytes(changed)
            refused(tree_file, "is not a model file|bytes before|headers|extra fields|damaged")


def test_a_name_in_the_directory_ends_where_it_seems_to(tree_file):
    whole, name, more = tree_file.read_bytes(), _container.MODEL.encode(), b"\0hidden"
    directory, end = whole.index(b"PK\x01\x02"), whole.index(b"PK\x05\x06")
    at = whole.index(name, directory)
    changed = bytearray(whole[: at + len(name)] + more + whole[at + len(name) :])
    struct.pack_into("<H", changed, at - 46 + 28, len(name + more))
    struct.pack_into("<L", changed, end + len(more) + 12, end - directory + len(more))
    tree_file.write_bytes(changed)
    refused(tree_file, "has names in its archive that do not end where they seem to")


def test_a_key_twice_in_the_description_is_refused(tmp_path):
    write_raw(tmp_path / "m", b'{"format": "planewise model", "format": "planewise model"}', b"")
    refused(tmp_path / "m", "a key appears twice")


@pytest.mark.parametrize("values", [b"[],", b"{},", b"1,", b'"",', b'{"a":1},', b"[[]],"])
def test_a_description_of_countless_values_is_refused_before_it_is_parsed(tmp_path, values):
    noise = json.dumps(np.random.default_rng(0).bytes(150_000).hex()).encode()  # or it would be packed too tightly
    text = b'{"format": [' + values * (12_000_000 // len(values)) + b'0], "noise": ' + noise + b"}"
    write_raw(tmp_path / "m", text, b"")
    tracemalloc.start()
    refused(tmp_path / "m", "values in a file of")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * len(text)


def test_a_description_of_many_equal_values_is_saved_so_that_it_can_be_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(_container, "MEMORY_ALWAYS_ALLOWED", 1 << 16)
    model = pw.SLMBoostRegressor(n_estimators=2, random_state=0).fit(*iris())
    model.set_params(rank_decay=[0.1] * 20_000)
    pw.save(model, tmp_path / "m")
    assert len(pw.load(tmp_path / "m").rank_decay) == 20_000


@pytest.mark.parametrize(
    "given",
    [
        *(None, [], "1.0", 3, {}, {"numpy": "2"}, {"planewise": None}, {"planewise": ["1"]}, {"numpy": {}}),
        *({"planewise": "1" * 101}, {"planewise": "1", "n" * 101: "1"}),
    ],
)
def test_versions_that_are_not_words_are_refused(tree_file, given):
    document, arrays = parts_of(tree_file)
    write(tree_file, document | {"versions": given}, arrays)
    refused(tree_file, "does not say which versions")
    with pytest.raises(ModelFileError, match="does not say which versions"):
        versions_of(tree_file)


@pytest.mark.parametrize(
    "text",
    [b"[1]", b"{", b"\xff", b"[" * 200_000, b'{"format": NaN}', b'{"schema": ' + b"9" * 5000 + b"}", b"null", b"{}"],
)
def test_a_description_that_is_none_is_refused(tmp_path, text):
    write_raw(tmp_path / "m", text, b"")
    refused(tmp_path / "m", "description|not a planewise model")


def test_other_members_are_refused(tree_file):
    with zipfile.ZipFile(tree_file, "a") as archive:
        archive.writestr("code.py", "raise SystemExit")
    refused(tree_file, "must hold exactly")


def test_a_kind_is_a_name_in_a_list_and_never_imported(tree_file):
    document, arrays = parts_of(tree_file)
    for kind in ("os.system", "planewise.SLMClassifier", "SVC", "__class__", 3, None, ["SLMClassifier"]):
        document["model"]["kind"] = kind
        write(tree_file, document, arrays)
        refused(tree_file, "model that this version does not know")


def _with_array(path, of, name, change):
    document, arrays = parts_of(path)
    number = document["model"]["fitted"][of][name]
    arrays[number] = change(arrays[number])
    write(path, document, arrays)


def _set(place, value, dtype=np.int64):
    def change(array):
        array = array.astype(dtype)
        array.flat[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("children", _set(0, 10_000), "child that is no later node"),
        ("children", _set(0, -1), "child that is no later node"),
        ("children", _set(-1, 0), "child that is no later node|leaf that has a child"),
        ("children", _set(0, 2**40), "numbers that are too large"),
        ("children", lambda a: a[:-1], "another number of children"),
        ("children", lambda a: a.astype(float), "of the wrong type"),
        ("plane_start", _set(0, 9), "planes"),
        ("plane_start", _set(0, -1), "goes back"),
        ("plane_start", lambda a: a[:0], "nodes|without a root"),
        ("child_start", _set(0, 1), "children|child for every side"),
        ("term_start", _set(0, 0), "terms"),
        ("term_feature", _set(0, 6), "column that the model does not have"),
        ("term_feature", _set(0, -1), "column that the model does not have"),
        ("term_coefficient", _set(0, 0), "coefficient"),
        ("term_coefficient", _set(0, -(2**31)), "coefficient"),
        ("set_category", _set(0, 60_000), "category that its column does not have"),
        ("set_category", _set(0, -1), "category that its column does not have"),
        ("missing_right", _set(0, 2, np.uint8), "side for missing values"),
        ("threshold", _set(0, np.nan, np.float32), "threshold"),
        ("threshold", lambda a: a[:-1], "another number of planes|length"),
        ("value", lambda a: a[:-1], "length"),
        ("value", lambda a: a[:, :0], "without values"),
        ("value", lambda a: a.ravel(), "shape"),
        ("n_samples", _set(0, 0), "without rows"),
    ],
)
@pytest.mark.parametrize("kind", ["tree", "boost"])
def test_every_link_of_a_tree_is_checked(kind, name, change, words, tree_file, boost_file):
    path, of = (tree_file, "tree_") if kind == "tree" else (boost_file, "forest_")
    _with_array(path, of, name, change)
    refused(path, words)


def test_a_deep_chain_of_nodes_is_refused_quickly(tmp_path):
    X = np.arange(40.0)[:, None]
    tree = pw.SLMRegressor(min_samples_leaf=1, random_state=0).fit(X, X[:, 0])
    pw.save(tree, tmp_path / "m")
    document, arrays = parts_of(tmp_path / "m")
    fields = document["model"]["fitted"]["tree_"]
    n = 30_000  # inner nodes in a row, each with one leaf
    node = np.arange(2 * n + 1)
    inner = (node % 2 == 0) & (node < 2 * n)
    chain = {
        "plane_start": inner.astype(np.uint8),
        "child_start": np.where(inner, 2, 1).astype(np.uint8),
        "children": np.concatenate([[k + 1, k + 2] if inner[k] else [k] for k in node]).astype(np.int32),
        "n_samples": np.ones(2 * n + 1, np.uint8),
        "term_start": np.ones(n, np.uint8),
        "threshold": np.zeros(n, np.float32),
        "missing_right": np.zeros(n, np.uint8),
        "plane_gain": np.zeros(n, np.float32),
        "term_feature": np.zeros(n, np.uint8),
        "term_coefficient": np.ones(n, np.uint8),
        "term_weight": np.ones(n, np.float32),
        "set_start": np.zeros(n, np.uint8),
        "set_category": np.zeros(0, np.int32),
        **{name: np.ones(2 * n + 1, np.float32) for name in ("weight", "impurity", "gain")},
        "value": np.ones((2 * n + 1, 1), np.float32),
    }
    for name, array in chain.items():
        arrays[fields[name]] = array
    write(tmp_path / "m", document, arrays)
    refused(tmp_path / "m", "more than 10000 levels")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m["parameters"].update(max_depth=-1), "parameter 'max_depth' of SLMClassifier must be"),
        (lambda m: m["parameters"].update(max_depth="deep"), "parameter 'max_depth'"),
        (lambda m: m["parameters"].update(kernel="rbf"), "does not know: kernel"),
        (lambda m: m["parameters"].update(class_weight={"code": "os"}), "unknown kind"),
        (lambda m: m["parameters"].update(n_jobs=0), "n_jobs"),
        (lambda m: m.update(parameters=[]), "without parameters"),
        (lambda m: m["fitted"].pop("tree_"), "unknown attributes"),
        (lambda m: m["fitted"].update(__class__=1), "unknown attributes"),
        (lambda m: m["fitted"].update(n_features_in_=10**12), "n_features_in_"),
        (lambda m: m["fitted"].update(n_features_in_=True), "n_features_in_"),
        (lambda m: m["fitted"].update(n_features_in_=7), "column names"),
        (lambda m: m["fitted"]["feature_names_in_"].pop(), "column names"),
        (lambda m: m["fitted"]["feature_names_in_"].__setitem__(0, 7), "not names"),
        (lambda m: m["fitted"]["classes_"]["values"].pop(), "number of values does not match the classes"),
        (lambda m: m["fitted"]["classes_"]["values"].reverse(), "not in order"),
        (lambda m: m["fitted"]["classes_"].update(dtype="O"), "unknown type"),
        (lambda m: m["fitted"]["categories_"][0].__setitem__(0, 99), "column that the model does not have"),
        (lambda m: m["fitted"]["tree_"].update(children=0), "two places|type|shape|number|length|goes"),
        (lambda m: m["fitted"]["tree_"].update(children=-1), "array that it does not hold"),
        (lambda m: m["fitted"]["tree_"].update(children="0"), "array that it does not hold"),
    ],
)
def test_every_word_of_the_description_is_checked(change, words, tree_file):
    document, arrays = parts_of(tree_file)
    change(document["model"])
    write(tree_file, document, arrays)
    refused(tree_file, words)


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ({"dtype": "object", "shape": [1]}, "unknown type"),
        ({"dtype": "float64", "shape": [2**60]}, "impossible shape"),
        ({"dtype": "float64", "shape": [2**40]}, "promises more values"),
        ({"dtype": "float64", "shape": [-1]}, "impossible shape"),
        ({"dtype": "uint8", "shape": [1, 1, 1, 1, 1]}, "impossible shape"),
        ({"dtype": "uint8", "shape": [1], "offset": 3}, "invalid description"),
        ("uint8", "invalid description"),
    ],
)
def test_an_array_is_described_truly_or_refused(described, words, tree_file):
    document, arrays = parts_of(tree_file)
    document["arrays"][0] = described
    write_raw(tree_file, json.dumps(document).encode(), b"".join(array.tobytes() for array in arrays))
    refused(tree_file, words)


# ------------------------------------------------------------------------------------------------------------ saving
def _loss(target, score):
    return score - target, np.ones_like(score)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (pw.SLMBoostRegressor(n_estimators=2, loss=_loss), "loss"),
        (pw.SLMBoostRegressor(n_estimators=2, callbacks=[lambda *_: False]), "callbacks"),
        (pw.SLMRegressor(random_state=np.random.RandomState(0)), "random_state"),
    ],
)
def test_a_parameter_that_is_no_plain_value_is_named(model, name, tmp_path):
    X, y = iris()
    model.fit(X, y * 1.0)
    with pytest.raises(ValueError, match=name) as caught:
        pw.save(model, tmp_path / "m")
    assert "cannot be saved" in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "plain"), [("scoring", None), ("cv", 5)])
def test_a_parameter_that_only_fit_needs_can_be_replaced(name, plain, tmp_path):
    X, y = iris()
    if name == "scoring":
        model = pw.SLMBoostRegressor(n_estimators=2, scoring=lambda estimator, X, y: 0.0)
    else:
        model = pw.MCMClassifierCV(cv=KFold(2, shuffle=True, random_state=0), kernel="linear", random_state=0)
    model.fit(X, y)
    words = rf"Predictions do not need it: model.set_params\({name}={plain}\)"
    with pytest.raises(ValueError, match=words):
        pw.save(model, tmp_path / "m")
    pw.save(model.set_params(**{name: plain}), tmp_path / "m")
    np.testing.assert_array_equal(pw.load(tmp_path / "m").predict(X), model.predict(X))


def test_without_its_own_loss_the_model_can_be_saved(tmp_path):
    X, y = iris()
    model = pw.SLMBoostRegressor(n_estimators=3, loss=_loss, random_state=0).fit(X, y * 1.0)
    model.set_params(loss="squared_error")
    pw.save(model, tmp_path / "m")
    np.testing.assert_array_equal(pw.load(tmp_path / "m").predict(X), model.predict(X))


def test_only_fitted_estimators_of_ours_are_saved(tmp_path):
    class Mine(pw.SLMClassifier):
        pass

    X, y = iris()
    with pytest.raises(ValueError, match="not fitted"):
        pw.save(pw.SLMClassifier(), tmp_path / "m")
    with pytest.raises(TypeError, match="Mine cannot be saved to a model file"):
        pw.save(Mine().fit(X, y), tmp_path / "m")
    with pytest.raises(TypeError, match="dict cannot be saved"):
        pw.save({}, tmp_path / "m")


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), pw.SLMRegressor()),
        make_pipeline(pw.SLMRegressor()),
        TransformedTargetRegressor(pw.SLMRegressor()),
        GridSearchCV(pw.SLMRegressor(), {"max_depth": [1, 2]}),
        StandardScaler(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_is_not_of_planewise_is_sent_to_skops(model, tmp_path):
    X, y = iris()
    with pytest.raises(TypeError, match=rf"^A {type(model).__name__} cannot be saved .*with skops\.io\.dump\.$"):
        pw.save(model.fit(X, y * 1.0), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_model_with_an_object_of_scikit_learn_in_it_can_be_sent_to_skops(tmp_path):
    model = pw.MCMClassifierCV(cv=KFold(2, shuffle=True, random_state=0), kernel="linear", random_state=0).fit(*iris())
    with pytest.raises(ValueError, match=r"'cv' is a sklearn\.model_selection.*KFold.*with skops\.io\.dump"):
        pw.save(model, tmp_path / "m")


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m"
    pw.save(fitted("tree, frame")[0], path)
    before = path.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        pw.save(fitted("boosting")[0], path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["m"]


def test_a_folder_in_the_place_of_the_file_is_said(tmp_path):
    model = fitted("tree, frame")[0]
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file in it"):
        pw.save(model, tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        pw.save(model, tmp_path / "no" / "m")
    assert not list(tmp_path.iterdir()) and not list(tmp_path.parent.glob("*.part"))


def test_messages_are_sentences(tmp_path, tree_file):
    document, arrays = parts_of(tree_file)
    document["model"]["parameters"]["max_depth"] = -1
    write(tree_file, document, arrays)
    with pytest.raises(ModelFileError, match=r"got -1\.$"):
        pw.load(tree_file)
    model = pw.SLMClassifier().fit(*iris())
    model.classes_ = np.array([datetime(2024, 1, day) for day in (1, 2, 3)], dtype=object)
    with pytest.raises(ValueError, match="a datetime, which cannot be stored in a file"):
        pw.save(model, tmp_path / "labels")


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        pw.load(tmp_path / "nowhere")


def test_long_runs_of_equal_values_are_packed_no_tighter_than_the_reader_allows(tmp_path):
    X, y = np.zeros((100_000, 2), np.float32), np.zeros(100_000)
    X[:, 0], y[:2] = np.arange(100_000) % 2, 1
    model = pw.SLMBoostRegressor(n_estimators=1, warm_start=True, random_state=0, max_depth=1).fit(X, y)
    pw.save(model, tmp_path / "m")
    assert len(pw.load(tmp_path / "m")._trials.left_out) == len(model._trials.left_out)


def test_as_many_classes_are_loaded_as_were_saved(tmp_path):
    model = pw.SLMClassifier(max_depth=1, random_state=0).fit(*iris())
    parts = {name: getattr(model.tree_, name) for name in TREE_ARRAYS}
    model.classes_ = np.arange(70_000)
    model.tree_ = Forest.from_arrays(**parts | {"value": np.full((model.tree_.n_nodes, 70_000), 1 / 70_000)})
    pw.save(model, tmp_path / "m")
    assert pw.load(tmp_path / "m").classes_.tolist() == list(range(70_000))


def _longer(known, arrays):
    arrays[known["values"]] = np.vstack([arrays[known["values"]]] * 2)


def _not_finite(known, arrays):
    arrays[known["values"]].flat[0] = np.nan


def _infinite_prior(known, arrays):
    arrays[known["prior"]][0] = np.inf


def _strange_class(known, arrays):
    arrays[known["classes"]][-1] = 9


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_longer, "target_statistics_.values of shape"),
        (_not_finite, "target statistics that are not finite"),
        (_infinite_prior, "target statistics that are not finite"),
        (_strange_class, "target statistics that do not match its target"),
    ],
)
def test_damaged_target_statistics_are_refused(tmp_path, damage, words):
    path = tmp_path / "m.planewise"
    pw.save(fitted("boosting, target statistics, object labels")[0], path)
    document, arrays = parts_of(path)
    damage(document["model"]["fitted"]["target_statistics_"][0][1], arrays)
    write(path, document, arrays)
    refused(path, words)


def test_target_statistics_of_a_column_of_numbers_are_refused(tmp_path):
    path = tmp_path / "m.planewise"
    pw.save(fitted("boosting, target statistics, numbers")[0], path)
    document, arrays = parts_of(path)
    document["model"]["fitted"]["target_statistics_"][0][0] = 0
    write(path, document, arrays)
    refused(path, "target statistics of a column without categories")
