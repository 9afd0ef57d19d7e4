import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAttackFixture, type AttackFixture } from "./fixture.ts";

/* Which commands an "always allow" answer covers, from the model's first call to its second. */

let fixture: AttackFixture;

beforeAll(() => {
  fixture = openAttackFixture();
  fixture.put("package.json", '{"scripts":{"test":"true","build":"true"}}');
  fixture.put("build/a", "a");
  fixture.put("x.sh", "true\n");
});

afterAll(() => fixture.close());

/** The verdict about the second line, once the first was always allowed. */
const afterAlways = async (first: string, second: string): Promise<string> => {
  const answers: string[] = [];
  const session = await fixture.open({
    answer: ({ always }) => {
      const isFirst = answers.length === 0;
      answers.push(JSON.stringify(always));
      if (!isFirst) return { type: "refuse" };
      return always.some(({ type }) => type === "command") ? { type: "always", scope: "command" } : { type: "once" };
    },
  });
  await session.call("run_shell_command", { command: first });
  if (answers.length !== 1) return `the first was asked about ${answers.length} times`;
  return (await session.call("run_shell_command", { command: second })).verdict;
};

describe("an always-allow answer", () => {
  it.each([
    ["rm -rf build/x", "rm -rf src"],
    ["rm -rf build/x", "rm -rf build/x src"],
    ["rm build/x", "rm x.sh"],
    ["mv build/x build/y", "mv x.sh build/z"],
    ["mv build/x build/y", "mv build/x build/y x.sh"],
    ["cp x.sh build/b", "cp build/b x.sh"],
    ["dd if=x.sh of=build/c", "dd if=x.sh of=package.json"],
    ["chmod 644 x.sh", "chmod 777 x.sh"],
    ["chmod +x x.sh", "chmod +x build/a"],
    ["node -e 1", "node -e 2"],
    ["python3 -c 1", "python3 -c 2"],
    ["sh -c true", "sh -c false"],
    ["sh x.sh", "sh x.sh y"],
    ["npx --no tool", "npx --no other"],
    ["env true", "env false"],
    ["xargs true", "xargs rm"],
    ["curl http://127.0.0.1:9/a", "curl http://127.0.0.1:9/b"],
    ["find build -exec true ;", "find . -exec rm ;"],
    ["find build -name none -delete", "find . -delete"],
    ["tar cf build/x.tar x.sh", "tar cf package.json x.sh"],
    ["npm run build", "npm run test"],
    ["npm install", "npm install other"],
    ["git reset", "git reset --hard"],
    ["git checkout", "git checkout -- ."],
    ["tee build/t", "tee package.json"],
    ["kill 999999", "kill 1"],
  ])("for %j does not cover %j", async (first, second) => {
    expect(await afterAlways(first, second)).toBe("ask");
  });

  it.each([
    ["rm -rf build/x", "rm -rf build/x"],
    ["node -e 1", "node -e 1"],
    ["npm test", "npm test 2>&1 | tail -5"],
    ["npm test 2>&1 | tail -5", "npm test"],
    ["cd build && npm test 2>/dev/null", "CI=1 npm test"],
    ["touch build/a", "touch build/b"],
    ["make -n", "make -n 2>&1 | head -1"],
  ])("for %j covers %j", async (first, second) => {
    expect(await afterAlways(first, second)).not.toBe("ask");
  });
});
