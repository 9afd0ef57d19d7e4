import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseIde, findIdes, type IdeOffer } from "../../src/ide/discover.ts";
import { mayHaveIde } from "../../src/ide/places.ts";
import { realWorld } from "../../src/world/real/world.ts";
import type { World } from "../../src/world/world.ts";
import { writeCompanionFile } from "./companion-server.ts";
import { writeLockFile } from "./lock-file-server.ts";

let [base, home, folder, temporary] = ["", "", "", ""];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-ide-")));
  [home, folder, temporary] = [join(base, "home"), join(base, "project"), join(base, "tmp")];
  for (const path of [home, folder, temporary]) mkdirSync(path);
});
afterEach(() => rmSync(base, { recursive: true }));

const world = (env: World["env"] = {}): World => {
  const real = realWorld(env);
  return { ...real, host: { ...real.host, home } };
};

const find = (env?: World["env"]): Promise<readonly IdeOffer[]> => findIdes({ world: world(env), folder, temporary });

const server = { port: 4001, token: "0123456789abcdef" };
const other = { port: 4002, token: "fedcba9876543210" };

/** The id of a process that has ended. */
const deadProcess = (): number => spawnSync(process.execPath, ["-e", ""]).pid;

describe("the editors of this user", () => {
  it("are found by their lock files, those with this folder open first", async () => {
    writeLockFile(home, server, { workspaceFolders: [join(base, "elsewhere")], ideName: "Far\u001b[2J" });
    writeLockFile(home, other, { workspaceFolders: [base] });
    expect(await find()).toEqual([
      { protocol: "lock-file", name: "Testpad", ...other, folders: [base], isFor: "folder" },
      {
        protocol: "lock-file",
        name: "Far␛[2J",
        ...server,
        folders: [join(base, "elsewhere")],
        isFor: undefined,
      },
    ]);
  });

  it("are found through links to the folder, and in CLAUDE_CONFIG_DIR", async () => {
    symlinkSync(folder, join(base, "link"));
    writeLockFile(home, server, { workspaceFolders: [join(base, "link")] });
    expect((await find({ CLAUDE_CONFIG_DIR: join(home, ".claude") })).map(({ isFor }) => isFor)).toEqual(["folder"]);
    expect(await find({ CLAUDE_CONFIG_DIR: temporary })).toEqual([]);
  });

  it("are found by files and variables of the companion", async () => {
    writeCompanionFile(temporary, server, {
      workspacePath: `/nowhere:${folder}`,
      ideInfo: { name: "vscode", displayName: "VS Code" },
    });
    expect(await find()).toEqual([
      { protocol: "companion", name: "VS Code", ...server, folders: ["/nowhere", folder], isFor: "folder" },
    ]);
    const env = { QWEN_CODE_IDE_SERVER_PORT: "4002", QWEN_CODE_IDE_AUTH_TOKEN: other.token };
    expect((await find(env)).map(({ port, isFor }) => [port, isFor])).toEqual([
      [4002, "terminal"],
      [4001, "folder"],
    ]);
  });

  it("are found by lock files of Qwen Code", async () => {
    mkdirSync(join(home, ".qwen", "ide"), { recursive: true });
    const content = { port: 4001, workspacePath: folder, authToken: server.token, ppid: process.pid, ideName: "Q" };
    writeFileSync(join(home, ".qwen", "ide", "4001.lock"), JSON.stringify(content), { mode: 0o600 });
    expect((await find()).map(({ name, protocol, isFor }) => [name, protocol, isFor])).toEqual([
      ["Q", "companion", "folder"],
    ]);
  });

  const refused: readonly (readonly [string, Readonly<Record<string, unknown>> & { readonly mode?: number }])[] = [
    ["others may write it", { mode: 0o666 }],
    ["its group may write it", { mode: 0o620 }],
    ["it has no token", { authToken: undefined }],
    ["its token is no header", { authToken: "token\r\nx: y" }],
    ["it has no process", { pid: undefined }],
    ["its process is no number", { pid: "1" }],
    ["its process is this user's whole group", { pid: 0 }],
    ["it uses another transport", { transport: "sse" }],
    ["it is too long", { filler: "x".repeat(70_000) }],
  ];
  it.each(refused)("are not believed where the file is wrong: %s", async (_, changes) => {
    writeLockFile(home, server, { workspaceFolders: [folder], ...changes });
    expect(await find()).toEqual([]);
  });

  it("are gone with their process", async () => {
    const pid = deadProcess();
    writeLockFile(home, server, { workspaceFolders: [folder], pid });
    writeCompanionFile(temporary, other, { workspacePath: folder, pid });
    expect(await find()).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)("are not read from files of another user", async () => {
    chownSync(writeLockFile(home, server, { workspaceFolders: [folder] }), 65_534, 65_534);
    expect(await find()).toEqual([]);
  });

  it("are not read through links, from folders or from files that are no JSON", async () => {
    const path = writeLockFile(temporary, server, { workspaceFolders: [folder] });
    const locks = join(home, ".claude", "ide");
    mkdirSync(join(locks, "4003.lock"), { recursive: true });
    symlinkSync(path, join(locks, "4001.lock"));
    for (const [name, text] of Object.entries({
      "4004.lock": "{",
      "4005.lock": "[]",
      "x.lock": "{}",
      "99999.lock": "{}",
    }))
      writeFileSync(join(locks, name), text);
    chmodSync(locks, 0o700);
    expect(await find()).toEqual([]);
  });
});

describe("the editor to connect to without a question", () => {
  const offer = (port: number, isFor: IdeOffer["isFor"]): IdeOffer => ({
    protocol: "lock-file",
    name: "Testpad",
    port,
    token: "t",
    folders: [],
    isFor,
  });
  it.each<[string, readonly IdeOffer[], number | undefined]>([
    ["none", [], undefined],
    ["the only one with this folder", [offer(1, "folder"), offer(2, undefined)], 1],
    ["not one of two", [offer(1, "folder"), offer(2, "folder")], undefined],
    ["the one of this terminal", [offer(1, "folder"), offer(2, "terminal")], 2],
    ["not one with another folder", [offer(1, undefined)], undefined],
  ])("is %s", (_, offers, port) => {
    expect(chooseIde(offers)?.port).toBe(port);
  });

  it("of several with this folder is the one of this terminal", async () => {
    for (const each of [server, other]) writeLockFile(home, each, { workspaceFolders: [folder] });
    expect(chooseIde(await find())).toBeUndefined();
    expect(chooseIde(await find({ CLAUDE_CODE_SSE_PORT: "4002" }))?.port).toBe(4002);
  });
});

describe("the check at start", () => {
  it("finds no editor without a lock file or a variable", async () => {
    expect(await mayHaveIde(world())).toBe(false);
    mkdirSync(join(home, ".claude", "ide"), { recursive: true });
    expect(await mayHaveIde(world())).toBe(false);
    expect(await mayHaveIde(world({ GEMINI_CLI_IDE_SERVER_PORT: "4001" }))).toBe(true);
    writeLockFile(home, server);
    expect(await mayHaveIde(world())).toBe(true);
  });
});
