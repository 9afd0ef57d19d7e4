import { readFileSync } from "node:fs";
import { edit } from "../../../src/tui/editor/edit.ts";
import { handleKey, type EditorRequest } from "../../../src/tui/editor/keymap.ts";
import { emptyEditor } from "../../../src/tui/editor/state.ts";
import { viewEditor } from "../../../src/tui/editor/view.ts";
import { createKeyListener } from "../../../src/tui/keys/key-listener.ts";
import { createHighlighter } from "../../../src/tui/markdown/highlight.ts";
import { loadLexer, MarkdownStream } from "../../../src/tui/markdown/stream.ts";
import { colourDepthOf } from "../../../src/tui/screen/colour.ts";
import { handleTerminalEvents, suspendProcess } from "../../../src/tui/screen/terminal-events.ts";
import { terminalQueries } from "../../../src/tui/screen/modes.ts";
import { createSgrEncoder } from "../../../src/tui/screen/sgr.ts";
import { Screen } from "../../../src/tui/screen/screen.ts";
import { themeFor } from "../../../src/tui/screen/theme.ts";
import { line, span } from "../../../src/tui/text/line.ts";
import { viewToolCall } from "../../../src/tui/views/tool-call.ts";
import { realTerminal } from "../../../src/world/real/terminal.ts";
import { realWorld } from "../../../src/world/real/world.ts";

/* A small program of the parts of the terminal UI: each submitted line is a command. */
const terminal = realTerminal();
if (terminal === undefined) throw new Error("No terminal.");
const { clock, env } = realWorld();
const markdown = { lexer: await loadLexer(), highlighter: createHighlighter(), onReady: () => update() };
let stream = new MarkdownStream(markdown, terminal.size().columns);
let editor = emptyEditor([], terminal.size().columns);
let status = "ready";
let printed = 0;

const screen = new Screen({
  terminal,
  clock,
  sgr: createSgrEncoder({ theme: themeFor(env), depth: colourDepthOf(env) }),
  live: ({ columns }) => {
    editor = edit(editor, { type: "resize", columns });
    stream.resize(columns);
    const open = stream.openLines();
    const view = viewEditor(editor, { height: 4 });
    return {
      lines: [...open, ...view.lines, [span(status, { tone: "muted" })]],
      cursor: { row: open.length + view.cursor.row, column: view.cursor.column },
    };
  },
});

const update = (): void => {
  screen.print(stream.takeFinal());
  screen.update();
};

const commands: Readonly<Record<string, (rest: string) => void | Promise<void>>> = {
  lines: async (rest) => {
    const count = Number(rest);
    for (printed = 0; printed < count; printed++) {
      screen.print([line(`line ${printed} ${"x".repeat(100)}`)]);
      if (printed % 500 === 0) await screen.waitForDrain();
    }
    await screen.flush();
    status = `printed ${count}`;
  },
  say: (rest) => {
    stream.write(JSON.parse(rest) as string);
  },
  end: async () => {
    stream.end();
    update();
    await stream.settled();
    screen.print(stream.takeFinal());
    stream = new MarkdownStream(markdown, terminal.size().columns);
  },
  hostile: async (path) => {
    const texts = JSON.parse(readFileSync(path, "utf8")) as readonly string[];
    for (const text of texts) {
      for (const unit of text.split("")) {
        stream.write(unit);
        update();
        await new Promise((resolve) => setImmediate(resolve));
      }
      stream.write("\n\n");
      screen.print(viewToolCall({ tool: text, title: text, status: "error", output: text }, terminal.size().columns));
    }
    screen.print([line("hostile over")]);
  },
  ask: () => void terminal.write(terminalQueries({ TERM: "xterm-kitty" })),
  crash: () =>
    void setImmediate(() => {
      throw new Error("broken on purpose");
    }),
  quit: () => leave(0),
};

const leave = async (code: number): Promise<void> => {
  await screen.close();
  process.exit(code);
};

const obey = async (request: EditorRequest): Promise<void> => {
  if (request.type === "quit") return leave(0);
  if (request.type === "cancel") editor = edit(editor, { type: "clear" });
  if (request.type === "suspend") return suspendProcess({ terminal, screen });
  if (request.type !== "submit") return;
  const [, name = "", rest = ""] = /^(\S+) ?(.*)$/s.exec(request.text) ?? [];
  await commands[name]?.(rest);
  update();
};

handleTerminalEvents(
  { terminal, screen },
  {
    input: createKeyListener(clock, (event) => {
      if (event.type === "text" && event.text === "?") status = `heard at ${printed}`;
      if (event.type === "reply") status = `reply ${event.reply.type}`;
      const { editor: next, request } = handleKey(editor, event);
      editor = next;
      screen.update();
      if (request !== undefined) void obey(request);
    }),
    quit: (reason) => {
      if (reason === "hang-up") process.exit(129);
      void leave(143);
    },
  },
);
