import { describe, expect, it } from "vitest";
import { findHomeFolders, listHomeFolders, toHomeFolders } from "./home-folders.ts";
import { simulatedDisk } from "./simulated/disk.ts";

const host = { platform: "linux", arch: "x64", home: "/home/me" };
const one = (home: string) => ({ config: home, data: home, state: home, cache: `${home}/cache` });
const find = (env: Readonly<Record<string, string>>, existing: readonly string[] = []) => {
  const disk = simulatedDisk();
  for (const path of ["/home/me", ...existing]) disk.seed(path, { kind: "folder" });
  return findHomeFolders({ env, host, disk });
};

describe("Parley's folders", () => {
  it("are one folder, .parley in the user's home, unless PARLEY_HOME names another", async () => {
    expect(await find({})).toEqual(one("/home/me/.parley"));
    expect(await find({ PARLEY_HOME: " " })).toEqual(one("/home/me/.parley"));
    expect(await find({ PARLEY_HOME: "/x", XDG_CONFIG_HOME: "/c" })).toEqual(one("/x"));
  });

  it("are in the XDG folders once one of the variables is set; the others have their defaults", async () => {
    expect(await find({ XDG_CONFIG_HOME: "/c" })).toEqual({
      config: "/c/parley",
      data: "/home/me/.local/share/parley",
      state: "/home/me/.local/state/parley",
      cache: "/home/me/.cache/parley",
    });
    expect(await find({ XDG_DATA_HOME: "/d", XDG_STATE_HOME: "/s", XDG_CACHE_HOME: "/k" })).toEqual({
      config: "/home/me/.config/parley",
      data: "/d/parley",
      state: "/s/parley",
      cache: "/k/parley",
    });
  });

  it("stay in a .parley that exists, and ignore an XDG folder that is relative or empty", async () => {
    expect(await find({ XDG_CONFIG_HOME: "/c" }, ["/home/me/.parley"])).toEqual(one("/home/me/.parley"));
    expect(await find({ XDG_CONFIG_HOME: "c", XDG_DATA_HOME: "" })).toEqual(one("/home/me/.parley"));
  });

  it("are listed once each, without those inside another", () => {
    expect(listHomeFolders("/h")).toEqual(["/h"]);
    expect(listHomeFolders(toHomeFolders("/h"))).toEqual(["/h"]);
    expect(listHomeFolders({ config: "/c", data: "/d", state: "/d", cache: "/c/cache" })).toEqual(["/c", "/d"]);
    expect(listHomeFolders({ config: "/c", data: "/c2", state: "/s", cache: "/k" })).toEqual(["/c", "/c2", "/s", "/k"]);
  });
});
