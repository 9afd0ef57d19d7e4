import { crc32, deflateSync } from "node:zlib";
import {
  call,
  cancelled,
  done,
  Ledger,
  storeBytes,
  text,
  type Conversation,
  type NewPart,
  type Origin,
  type ToolDeclaration,
} from "../conversation/index.ts";

/** A conversation with everything that makes moving between providers hard. */
export const tourConversation = (): Conversation => {
  const ledger = new Ledger();
  const ask = (...parts: readonly NewPart[]) => ledger.model(claude, parts);
  const screenshot = storeBytes(png(24, 16), { mimeType: "image/png", name: "page.png", width: 24, height: 16 });

  ledger.user([text("Why is the start page blank?")]);
  const [index] = ask(
    { type: "thinking", text: "The markup comes first.", seal: { signature: "c2lnbmVkIGJ5IGNsYXVkZQ==" } },
    text("I will start with the markup."),
    call("read", { path: "index.html" }, "toolu_01A"),
  );
  ledger.complete(index!.id, "read", done('<body><script src="app.js"></script></body>'));

  const files = ask(
    ...["app.js", "store.js", "routes.js", "theme.css", "package.json"].map((path, at) =>
      call("read", { path }, `toolu_02${at}`),
    ),
  );
  ledger.complete(files[2]!.id, "read", done("export const routes = [];"));

  ledger.user([text("Skip those. Check the network instead.")]);
  const fetches = ask(
    call("fetch", { url: "http://localhost:8080/" }, "toolu_03A"),
    call("fetch", { url: "http://localhost:8080/app.js" }, "toolu_03B"),
  );
  for (const { id } of fetches) ledger.complete(id, "fetch", cancelled());

  ledger.user([text("Then just look at the page.")]);
  const [look] = ask(call("take_screenshot", {}, "toolu_04A"));
  ledger.complete(look!.id, "take_screenshot", done("The page as it is now:", screenshot.media));

  return {
    version: 1,
    system: "You help with web pages. Answer briefly.",
    tools,
    entries: ledger.entries,
    blobs: { [screenshot.blob.hash]: screenshot.blob.base64 },
  };
};

const claude: Origin = { provider: "anthropic", model: "claude-sonnet-5" };

const tools: readonly ToolDeclaration[] = [
  tool("read", "Read a text file.", "path"),
  tool("fetch", "Fetch an address.", "url"),
  tool("take_screenshot", "Take a picture of the page."),
];

function tool(name: string, description: string, ...required: readonly string[]): ToolDeclaration {
  const properties = Object.fromEntries(required.map((key) => [key, { type: "string" }]));
  return { name, description, parameters: { type: "object", properties, required } };
}

/** A picture of one colour: no more than it takes to be a valid one. */
const png = (width: number, height: number): Uint8Array => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.alloc(1 + width * 3, 0xf4).fill(0, 0, 1);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
};

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  const check = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
};
