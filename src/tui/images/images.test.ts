import { describe, expect, it } from "vitest";
import { testTerminal } from "../../../test/tui/terminal.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import type { TerminalReply } from "../keys/key-event.ts";
import { KeyReader } from "../keys/key-reader.ts";
import { createSgrEncoder } from "../screen/sgr.ts";
import { Screen } from "../screen/screen.ts";
import { dark } from "../screen/theme.ts";
import { line, lineText } from "../text/line.ts";
import { encodeImage } from "./encode.ts";
import { detectImageSupport, type ImageSupport } from "./support.ts";
import { viewImageLine } from "./view.ts";

const kittyAnswer: TerminalReply = { type: "kitty-images", isSupported: true };

describe("images", () => {
  it.each<readonly [Readonly<Record<string, string>>, readonly TerminalReply[], ImageSupport]>([
    [{ TERM: "xterm-kitty" }, [], "kitty"],
    [{ TERM: "xterm-256color" }, [kittyAnswer], "kitty"],
    [{ TERM: "xterm-256color" }, [{ type: "kitty-images", isSupported: false }], "none"],
    [{ TERM_PROGRAM: "iTerm.app" }, [], "iterm"],
    [{ TERM_PROGRAM: "WezTerm" }, [], "iterm"],
    [{ TERM: "xterm" }, [{ type: "attributes", attributes: [62, 4] }], "sixel"],
    [{ TERM: "xterm" }, [{ type: "attributes", attributes: [62] }], "none"],
    [{ TERM: "xterm-kitty", TMUX: "/tmp/x" }, [kittyAnswer], "none"],
    [{ TERM: "tmux-256color" }, [{ type: "attributes", attributes: [1, 2, 4] }], "sixel"],
    [{}, [], "none"],
  ])("of %j with %j use %s", (env, replies, support) => {
    expect(detectImageSupport(env, replies)).toBe(support);
  });

  it.each<readonly [name: string, env: Readonly<Record<string, string>>, reply: string, ImageSupport]>([
    ["foot", { TERM: "foot" }, "[?62;4;22c", "sixel"],
    ["Windows Terminal 1.22", { WT_SESSION: "1" }, "[?61;4;6;7;14;21;22;23;24;28;32;42c", "sixel"],
    ["the Windows console", {}, "[?61;1;6;7;21;22;23;24;28;32;42c", "none"],
    ["xterm as a VT340", { TERM: "xterm" }, "[?63;1;2;4;6;9;15;16;22;28c", "sixel"],
    ["xterm", { TERM: "xterm" }, "[?64;1;2;6;9;15;16;17;18;21;22;28c", "none"],
    ["mlterm", { TERM: "mlterm" }, "[?63;1;2;3;4;6;7;15;18;22;29c", "sixel"],
    ["mintty", { TERM: "xterm" }, "[?64;1;2;4;6;9;15;21;22;28;29c", "sixel"],
  ])("on %s, which has no other protocol, depend on its device attributes", (_, env, reply, support) => {
    const events = new KeyReader().read(Buffer.from(`\u001b${reply}`));
    const replies = events.flatMap((event) => (event.type === "reply" ? [event.reply] : []));
    expect(detectImageSupport(env, replies)).toBe(support);
  });

  const image = {
    bytes: Uint8Array.from({ length: 4000 }, (_, at) => at & 255),
    mimeType: "image/png",
    pixels: { width: 160, height: 64 },
  };

  it("are sent to kitty in chunks, with their size in cells", async () => {
    const sent = encodeImage("kitty", image, { columns: 40, rows: 10 });
    const pieces = ((await sent?.encoded) ?? "").split("\u001b\\").slice(0, -1);
    expect([sent?.rows, pieces.map((piece) => piece.slice(0, piece.indexOf(";")))]).toEqual([
      4,
      ["\u001b_Ga=T,f=100,q=2,C=1,c=20,r=4,m=1", "\u001b_Gm=0"],
    ]);
    const data = pieces.map((piece) => piece.slice(piece.indexOf(";") + 1)).join("");
    expect(Buffer.from(data, "base64").equals(image.bytes)).toBe(true);
  });

  it("are sent to iTerm2 whole", () => {
    expect(encodeImage("iterm", { ...image, bytes: Uint8Array.of(1, 2, 3) }, { columns: 10, rows: 10 })).toEqual({
      encoded: "\u001b]1337;File=inline=1;size=3;width=10;height=2;preserveAspectRatio=1:AQID\u0007",
      rows: 2,
    });
  });

  it("that the terminal cannot show are not sent", () => {
    expect([
      encodeImage("none", image, { columns: 40, rows: 10 }),
      encodeImage("sixel", { ...image, mimeType: "image/jpeg" }, { columns: 40, rows: 10 }),
      encodeImage("kitty", { ...image, mimeType: "image/jpeg" }, { columns: 40, rows: 10 }),
    ]).toEqual([undefined, undefined, undefined]);
  });

  it("that cannot be shown are described in a line", () => {
    expect(
      lineText(
        viewImageLine(
          { mimeType: "image/png", bytes: 34_567, name: "a\u001b[2J.png", pixels: { width: 640, height: 480 } },
          80,
        ),
      ),
    ).toBe("[a.png: image/png, 33.8 KB, 640 × 480 pixels]");
    expect(
      [0, 1023, 1024, 5 * 1024 ** 2, 3 * 1024 ** 4].map((bytes) =>
        lineText(viewImageLine({ mimeType: "x/y", bytes }, 80)),
      ),
    ).toEqual(["  x/y, 0 bytes", "  x/y, 1023 bytes", "  x/y, 1.0 KB", "  x/y, 5.0 MB", "  x/y, 3072.0 GB"]);
  });

  it("take their rows among the printed lines, also at the bottom of the screen", async () => {
    const terminal = testTerminal({ columns: 20, rows: 6 });
    const world = simulatedWorld();
    const screen = new Screen({
      terminal,
      clock: world.clock,
      sgr: createSgrEncoder({ theme: dark, depth: "none" }),
      live: () => ({ lines: [line("> ")], cursor: { row: 0, column: 2 } }),
    });
    screen.print([line("a"), line("b"), line("c"), line("d")]);
    screen.printImage({ encoded: "PICTURE", rows: 3 });
    screen.print([line("after")]);
    screen.printImage({ encoded: "TOO HIGH", rows: 6 });
    await world.run(screen.flush());
    expect(terminal.screen.scrollback()).toEqual(["a", "b", "c", "d", "PICTURE", "", "", "after", ">"]);
    expect(terminal.screen.cursor()).toEqual({ row: 5, column: 2 });
  });
});
