/** A server-sent event as a client reads it. */
export type ReadEvent = { readonly id: string; readonly event: string; readonly data: string };

/** Reads server-sent events until one fits, or to the end; then leaves. */
export const readEvents = async (
  response: Response,
  isLast: (event: ReadEvent) => boolean = () => false,
): Promise<readonly ReadEvent[]> => {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const events: ReadEvent[] = [];
  let rest = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block.startsWith(":")) continue;
      const field = (name: string): string =>
        block
          .split("\n")
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
          .join("\n");
      const event = { id: field("id"), event: field("event"), data: field("data") };
      events.push(event);
      if (isLast(event)) return events;
    }
  }
  return events;
};
