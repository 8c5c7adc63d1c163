"""As much of JSON Schema as docs/reference/openapi.json and dag.schema.json use. A keyword that it does not know is an error."""
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
         "maximum", "default", "description", "$schema", "$defs", "title", "oneOf", "pattern", "minProperties",
         "maxProperties", "minItems"}
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
    if "oneOf" in schema:
        fitting = [each for each in schema["oneOf"] if not problems(document, each, value, path)]
        if len(fitting) != 1:
            return [f"{path}: {len(fitting)} fit, expected one of {schema['oneOf']}"]
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(KINDS[kind](value) for kind in kinds):
        return [f"{path}: found {value!r}, expected {' or '.join(kinds)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: found {value!r}, expected one of {schema['enum']}")
    if schema.get("format") == "date-time" and isinstance(value, str) and not DATE_TIME.fullmatch(value):
        found.append(f"{path}: found {value!r}, expected a time")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{path}: found {value!r}, expected {schema['pattern']}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            found.append(f"{path}: found {value}, which is out of bounds")
    if isinstance(value, (dict, list)):
        least = schema.get("minProperties" if isinstance(value, dict) else "minItems", 0)
        most = schema.get("maxProperties", len(value))
        if not least <= len(value) <= most:
            found.append(f"{path}: found {len(value)} parts, expected {least} to {most}")
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
