// Shows the OpenAPI document of this server. Everything is set as text, so nothing in the document can be a program.

const METHODS = ["get", "put", "post", "patch", "delete"];

function element(name, text, parts = []) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...parts);
  return made;
}

function resolve(root, schema) {
  const name = schema?.$ref?.split("/").pop();
  return name ? { name, ...root.components.schemas[name] } : (schema ?? {});
}

function typeOf(root, schema) {
  const found = resolve(root, schema);
  if (found.name) return found.name;
  const choice = found.oneOf ?? found.anyOf ?? found.allOf;
  if (choice) return choice.map((one) => typeOf(root, one)).join(" | ");
  if (found.enum) return found.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (found.type === "array") return `${typeOf(root, found.items)}[]`;
  return [found.type ?? "any"].flat().join(" | ");
}

function fields(root, schema) {
  const found = resolve(root, schema);
  const of = found.properties ?? {};
  const rows = Object.entries(of).map(([name, field]) => {
    const must = found.required?.includes(name) ? " (required)" : "";
    return element("tr", "", [
      element("td", "", [element("code", name)]),
      element("td", typeOf(root, field) + must),
      element("td", field.description ?? ""),
    ]);
  });
  return rows.length ? element("table", "", [element("tbody", "", rows)]) : element("p", typeOf(root, schema));
}

function operation(root, path, method, about) {
  const parts = [element("summary", "", [element("span", method.toUpperCase()), element("code", path)])];
  parts[0].firstChild.className = "method";
  if (about.summary) parts[0].append(` ${about.summary}`);
  if (about.description) parts.push(element("p", about.description));
  const given = (about.parameters ?? []).map((one) =>
    element("tr", "", [
      element("td", "", [element("code", one.name)]),
      element("td", `${one.in}, ${typeOf(root, one.schema)}${one.required ? " (required)" : ""}`),
      element("td", one.description ?? ""),
    ]),
  );
  if (given.length) parts.push(element("h4", "Parameters"), element("table", "", [element("tbody", "", given)]));
  for (const [kind, content] of Object.entries(about.requestBody?.content ?? {})) {
    parts.push(element("h4", `Body: ${kind}`), fields(root, content.schema));
  }
  for (const [status, response] of Object.entries(about.responses ?? {})) {
    if (!/^2/.test(status)) continue;
    parts.push(element("h4", `${status}: ${response.description}`));
    for (const [kind, content] of Object.entries(response.content ?? {})) {
      parts.push(element("p", "", [element("code", kind)]), fields(root, content.schema));
    }
  }
  return element("details", "", parts);
}

async function show(place) {
  const response = await fetch("/api/openapi.json");
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const root = await response.json();
  const groups = new Map();
  for (const [path, item] of Object.entries(root.paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      const tag = item[method].tags?.[0] ?? "other";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operation(root, path, method, item[method]));
    }
  }
  const sections = [...groups].map(([tag, list]) => element("section", "", [element("h2", tag), ...list]));
  place.replaceChildren(...sections);
}

const place = document.getElementById("document");
show(place).catch((error) => {
  place.textContent = `The document could not be shown: ${error.message}.`;
});
