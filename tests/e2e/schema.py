"""As much of JSON Schema as docs/reference/openapi.json uses. A keyword that it does not know is an error."""
import re

KINDS = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "null": lambda value: value is None,
}
KNOWN = {"$ref", "type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "format", "minimum",
         "maximum", "default", "description"}
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def resolved(document, node):
    while "$ref" in node:
        target = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def problems(document, schema, value, path="$"):
    """What is wrong with a value, each with its place; empty: nothing."""
    schema = resolved(document, schema)
    unknown = set(schema) - KNOWN
    if unknown:
        raise ValueError(f"{path}: the schema uses {sorted(unknown)}: teach them to schema.py")
    if "anyOf" in schema:
        tried = [problems(document, each, value, path) for each in schema["anyOf"]]
        return [] if any(not each for each in tried) else [f"{path}: none fits: {tried}"]
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(KINDS[kind](value) for kind in kinds):
        return [f"{path}: found {value!r}, expected {' or '.join(kinds)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: found {value!r}, expected one of {schema['enum']}")
    if schema.get("format") == "date-time" and isinstance(value, str) and not DATE_TIME.fullmatch(value):
        found.append(f"{path}: found {value!r}, expected a time")
    if isinstance(value, dict):
        found += problems_of_object(document, schema, value, path)
    if isinstance(value, list) and "items" in schema:
        for at, item in enumerate(value):
            found += problems(document, schema["items"], item, f"{path}[{at}]")
    return found


def problems_of_object(document, schema, value, path):
    properties = schema.get("properties", {})
    found = [f"{path}: {name} is missing" for name in schema.get("required", []) if name not in value]
    for name, member in value.items():
        if name in properties:
            found += problems(document, properties[name], member, f"{path}.{name}")
        elif schema.get("additionalProperties") is False:
            found.append(f"{path}: {name} is not described")
        elif isinstance(schema.get("additionalProperties"), dict):
            found += problems(document, schema["additionalProperties"], member, f"{path}.{name}")
    return found
