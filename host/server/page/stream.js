// Server-sent events off a response that is still coming in.

/** Each event as `{event, data}`; `heard` is called for every piece, comments that only keep the line open included. */
export async function* eventsOf(response, heard) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let [name, data] = ["", []];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    heard();
    rest += value;
    // A lone carriage return at the end may be half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield { event: name || "message", data: data.join("\n") };
        [name, data] = ["", []];
        continue;
      }
      const [, field, content] = /^([^:]*):? ?([\s\S]*)$/.exec(line);
      if (field === "event") name = content;
      else if (field === "data") data.push(content);
    }
  }
}
