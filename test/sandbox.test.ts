import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer as createWebServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt } from "./built.ts";
import {
  copyProgram,
  hasBubblewrap,
  openSandboxFixture,
  users,
  type SandboxRunOptions,
  type SandboxFixture,
} from "./support/sandbox-fixture.ts";
import { itInAll, sampleCases } from "./support/tier.ts";

/* The packaged program with real bubblewrap, as every available user. Skipped without bubblewrap; CI installs it. */

let app: string;
beforeAll(() => {
  ensureBuilt();
  app = copyProgram();
});
afterAll(() => rmSync(app, { recursive: true, force: true }));

describe.runIf(hasBubblewrap).each(sampleCases(users, 2))("a sandboxed command of $name", (user) => {
  let fixture: SandboxFixture;
  const servers: Server[] = [];
  beforeEach(() => {
    fixture = openSandboxFixture(user, app);
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
    fixture.close();
  });
  const inWorkspace = (path: string): string => join(fixture.workspace, path);
  const outputs = async (commands: readonly string[], options?: SandboxRunOptions): Promise<readonly string[]> =>
    (await fixture.run(commands, options)).map(({ output }) => output);
  const git = (...args: readonly string[]): void => {
    const owner = user.uid === undefined ? {} : { uid: user.uid, gid: user.uid };
    const ran = spawnSync("git", args, { cwd: fixture.workspace, env: gitEnvironment(fixture.home), ...owner });
    if (ran.status !== 0) throw new Error(ran.stderr.toString());
  };

  it("has no rights beyond the workspace", async () => {
    const outside = fixture.put("outside.txt", "mine");
    const ended = await fixture.run([
      "touch inside.txt && grep -E '^Cap(Eff|Bnd)' /proc/self/status",
      "mount -o remount,rw /",
      `mount --bind ${fixture.workspace} /etc`,
      `echo changed > ${outside}`,
      "echo x > /etc/parley-canary",
      'same=$(cat /proc/sys/kernel/core_pattern); echo "$same" > /proc/sys/kernel/core_pattern',
      "unshare -Ur true",
      "unshare -m true",
      "mknod /tmp/disk b 8 0",
    ]);
    expect(ended[0]?.output.replaceAll("\t", "")).toBe("CapEff:0000000000000000\nCapBnd:0000000000000000");
    expect(ended.slice(1).map(({ code }) => code === "0")).toEqual(Array<boolean>(8).fill(false));
    expect(ended[4]?.output).toContain("(Sandbox: commands can write only in the workspace and in /tmp");
    expect(readFileSync(outside, "utf8")).toBe("mine");
    expect(existsSync("/etc/parley-canary")).toBe(false);
    expect(existsSync(inWorkspace("inside.txt"))).toBe(true);
  });

  it("sees no keys, not Parley's own folder and no other temporary files, and the result says so", async () => {
    const secrets = [".ssh/id_rsa", ".aws/credentials", ".netrc", ".config/gcloud/x.json", ".parley/keys", ".npmrc"];
    for (const path of secrets) fixture.put(`home/${path}`, "the secret");
    fixture.put("home/notes.txt", "no secret");
    const [seen, key, notes, shadow] = await fixture.run([
      `cat ${secrets.map((path) => `~/${path}`).join(" ")}; ls -A ~/.ssh ~/.aws /tmp /run`,
      "cat ~/.ssh/id_rsa",
      "cat ~/notes.txt",
      "cat /etc/shadow | wc -c",
    ]);
    expect(seen?.output).not.toContain("the secret");
    expect(key?.output).toContain(
      `(Sandbox: "${fixture.home}/.ssh" is hidden from commands, because it can contain secrets.)`,
    );
    expect(notes?.output).toBe("no secret");
    expect(shadow?.output.split("\n").at(-1)).toBe("0");
  });

  it("sees none of Parley's folders where they are XDG folders, wherever those are", async () => {
    const own = [".config/parley/trust/x", "data/parley/sessions/x", "state/parley/history/x", "kept/parley/x"];
    for (const path of own) fixture.put(`home/${path}`, "the secret");
    const at = (name: string): string => join(fixture.home, name);
    const env = { XDG_DATA_HOME: at("data"), XDG_STATE_HOME: at("state"), XDG_CACHE_HOME: at("kept") };
    const script = `cat ${own.map((path) => `~/${path}`).join(" ")}; for f in ${own.map((path) => `~/${path}`).join(" ")}; do echo evil > $f; done`;
    const [tried] = await outputs([script], { env, settingsFolder: ".config/parley" });
    expect(tried).not.toContain("the secret");
    expect(own.map((path) => readFileSync(at(path), "utf8"))).toEqual(own.map(() => "the secret"));
  });

  it("reaches no unix socket", async () => {
    const path = join(fixture.home, "agent.sock");
    const server = createServer((socket) => socket.end("the agent"));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    chmodSync(path, 0o777);
    const [tried] = await outputs([
      `node -e 'require("net").connect("${path}").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`,
    ]);
    expect(tried).toBe("ECONNREFUSED");
  });

  it("cannot change files that git, editors, shells and agents run automatically", async () => {
    git("init", "-q", ".");
    const guarded = {
      ".git/hooks/post-commit": "#!/bin/sh\n",
      ".envrc": "export A=1\n",
      ".parley/settings.json": "{}",
      ".vscode/tasks.json": "{}",
      "sub/.envrc": "export B=1\n",
      ".github/workflows/ci.yml": "on: push\n",
      ".mcp.json": "{}",
    };
    for (const [path, text] of Object.entries(guarded)) fixture.put(`work/${path}`, text);
    const config = readFileSync(inWorkspace(".git/config"), "utf8");
    const ended = await fixture.run([
      "echo 'touch /x' > .git/hooks/pre-commit",
      "rm -rf .git/hooks/post-commit",
      "git config core.pager 'touch /x'",
      "echo evil >> .git/config",
      "mv .git .git2",
      "rm -rf .git",
      ...Object.keys(guarded).map((path) => `echo evil >> ${path}`),
      "mv .envrc .envrc2",
      "cp /dev/null .vscode/x && echo done",
    ]);
    expect(ended.map(({ code }) => code === "0")).toEqual(ended.map(() => false));
    expect(ended[0]?.output).toContain(`(Sandbox: commands can write only in the workspace`);
    expect(readFileSync(inWorkspace(".git/config"), "utf8")).toBe(config);
    expect(existsSync(inWorkspace(".git/hooks/pre-commit"))).toBe(false);
    for (const [path, text] of Object.entries(guarded)) expect(readFileSync(inWorkspace(path), "utf8")).toBe(text);
  });

  itInAll("cannot create them either: they are renamed after it has ended, and the result says so", async () => {
    git("init", "-q", ".");
    fixture.put("work/real", "text");
    symlinkSync("real", inWorkspace(".mcp.json"));
    const plants = {
      "echo evil > .envrc": ".envrc",
      "mkdir -p deep/er && echo evil > deep/er/.envrc": "deep/er/.envrc",
      "mkdir .vscode && echo evil > .vscode/tasks.json": ".vscode",
      "mkdir .parley && echo evil > .parley/settings.json": ".parley",
      "echo /elsewhere > .git/commondir": ".git/commondir",
      "mkdir -p a/objects a/refs && touch a/HEAD && printf '[core]\\n\\tpager = evil\\n' > a/config": "a/config",
      "mkdir b && echo 'gitdir: /elsewhere' > b/.git": "b/.git",
      "git init -q c && printf '[core]\\n\\tfsmonitor = evil\\n' >> c/.git/config": "c/.git/config",
      "git init -q d && echo evil > d/.git/hooks/pre-commit": "d/.git/hooks",
      "rm .mcp.json && echo evil > .mcp.json": ".mcp.json",
    };
    const ended = await fixture.run(Object.keys(plants));
    for (const [index, path] of Object.values(plants).entries()) {
      expect(ended[index]?.output).toContain(`(Sandbox: the command created "${inWorkspace(path)}".`);
      expect([path, existsSync(inWorkspace(path)), existsSync(inWorkspace(`${path}.sandbox-blocked`))]).toEqual([
        path,
        false,
        true,
      ]);
    }
  });

  itInAll("does ordinary work: repositories, dependencies, temporary files, links", async () => {
    git("init", "-q", ".");
    fixture.put("work/sub/.npmrc", "fund=false\n");
    fixture.put("work/f.txt", "text\n");
    const ended = await fixture.run([
      "git -c user.name=A -c user.email=a@b.test commit -q --allow-empty -m one && git add f.txt && git status --short",
      "git init -q fresh && git clone -q . copy 2>&1 && git worktree add -q tree 2>&1 && git -C tree log --oneline | wc -l",
      "mkdir -p node_modules/.bin venv/bin && touch node_modules/.bin/x venv/bin/activate && ls node_modules/.bin venv/bin",
      "mktemp > /dev/null && echo x > $TMPDIR/y && cat /tmp/y",
      "mv sub moved && cat moved/.npmrc",
      "cat /etc/hostname > /dev/null && node -p 1+1",
    ]);
    expect(ended.map(({ code, output }) => [code, output])).toEqual([
      ["0", "A  f.txt\n?? .steps/\n?? sub/"],
      ["0", "1"],
      ["0", "node_modules/.bin:\nx\n\nvenv/bin:\nactivate"],
      ["0", "x"],
      ["0", "fund=false"],
      ["0", "2"],
    ]);
    for (const path of ["fresh/.git/config", "copy/.git/hooks", "tree/.git"])
      expect(existsSync(inWorkspace(path))).toBe(true);
  });

  itInAll("has network access, unless it is turned off", async () => {
    const server = createWebServer((_, response) => response.end("page"));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const fetch = `node -e 'fetch("http://127.0.0.1:${port}/").then(async (r) => console.log(await r.text()), (e) => console.log(e.cause.code))'`;
    const lookUp = `node -e 'require("dns").lookup("public.test", (e) => { console.log(e.code); process.exit(1); })'`;
    const [page] = await outputs([fetch]);
    const [refused, name] = await outputs([fetch, lookUp], { args: ["--sandbox-network", "off"] });
    expect([page, refused]).toEqual(["page", "ECONNREFUSED"]);
    expect(name).toContain("(Sandbox: commands have no network. The user can allow it with --sandbox-network on.)");
  });

  itInAll("gets the path of a program that is hidden from it", async () => {
    fixture.put("home/.docker/bin/dockerly", "#!/bin/sh\necho ran\n", 0o755);
    const folder = join(fixture.home, ".docker");
    const [ended] = await outputs(["dockerly"], { path: `/usr/bin:/bin:${folder}/bin` });
    expect(ended).toContain(`(Sandbox: "dockerly" is installed in "${folder}", which is hidden from commands.`);
  });

  it("leaves no process behind", async () => {
    const marker = `parley-${process.pid}-${user.name}`;
    await fixture.run([
      `setsid sh -c 'exec -a ${marker} sleep 1000' & setsid bash -c 'exec -a ${marker} sleep 1000' &`,
    ]);
    const commandLines = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readIfThere(`/proc/${pid}/cmdline`));
    expect(commandLines.filter((line) => line.startsWith(marker))).toEqual([]);
  });
});

const gitEnvironment = (home: string): { readonly [name: string]: string } => ({
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: home,
  GIT_CONFIG_NOSYSTEM: "1",
});

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};
