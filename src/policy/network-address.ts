/**
 * Why nobody but this machine and its neighbours should be asked at an
 * address, or undefined for one of the public internet. Of IPv6, only what is
 * known to be public counts as such, and an address that holds another is as
 * public as the one it holds. What is no address is not public.
 */
export const notPublic = (address: string): string | undefined => {
  const four = fourOf(address);
  if (four !== undefined) return named(four, ranges4);
  const six = sixOf(address);
  return six === undefined ? "not an address" : notPublic6(six);
};

/** An address as a number of 32 or 128 bits. */
type Range = { readonly start: bigint; readonly bits: number; readonly what: string };

const named = (address: Wide, ranges: readonly Range[]): string | undefined =>
  ranges.find(({ start, bits }) => address.value >> (address.width - BigInt(bits)) === start)?.what;

type Wide = { readonly value: bigint; readonly width: bigint };

const fourOf = (address: string): Wide | undefined => {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return undefined;
  const bytes = address.split(".").map(Number);
  return bytes.every((byte) => byte < 256) ? wide4(bytes.reduce((sum, byte) => sum * 256 + byte, 0)) : undefined;
};

const wide4 = (value: number | bigint): Wide => ({ value: BigInt(value), width: 32n });

/** The URL parser knows every spelling and gives back one: groups of hex digits, the longest run of zeros left out. */
const sixOf = (address: string): Wide | undefined => {
  if (!/^[\da-f:.]+$/i.test(address) || !URL.canParse(`http://[${address}]/`)) return undefined;
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const groups = (part: string): readonly string[] => (part === "" ? [] : part.split(":"));
  const after = groups(tail ?? "");
  const zeros = Array.from({ length: 8 - groups(head).length - after.length }, () => "0");
  const hex = [...groups(head), ...zeros, ...after].map((group) => group.padStart(4, "0")).join("");
  return { value: BigInt(`0x${hex}`), width: 128n };
};

const notPublic6 = (six: Wide): string | undefined => {
  const low = wide4(six.value & 0xffff_ffffn);
  const isTunnel = ((six.value >> 32n) & 0xfdff_ffffn) === 0x5efen;
  const inside = six.value >> 32n === nat64 || isTunnel ? named(low, ranges4) : undefined;
  if (inside !== undefined) return inside;
  if (six.value >> 32n === nat64) return undefined;
  return named(six, ranges6) ?? (six.value >> 125n === 1n ? undefined : "reserved");
};

/** 64:ff9b::/96: how a network without IPv4 reaches addresses that have no other. */
const nat64 = 0x0064_ff9b_0000_0000_0000_0000n;

const range = (address: string, bits: number, what: string): Range => {
  const { value, width } = fourOf(address) ?? sixOf(address) ?? { value: 0n, width: 0n };
  return { start: value >> (width - BigInt(bits)), bits, what };
};

/** From IANA's registries of special-purpose addresses, and what clouds put elsewhere. */
const ranges4: readonly Range[] = [
  range("0.0.0.0", 8, "this machine"),
  range("10.0.0.0", 8, "a private network"),
  range("100.64.0.0", 10, "a provider's own network"),
  range("127.0.0.0", 8, "this machine"),
  range("168.63.129.16", 32, "a cloud's own service"),
  range("169.254.0.0", 16, "link-local, where clouds keep credentials"),
  range("172.16.0.0", 12, "a private network"),
  range("192.0.0.0", 24, "reserved"),
  range("192.0.2.0", 24, "for documentation"),
  range("192.31.196.0", 24, "reserved"),
  range("192.52.193.0", 24, "reserved"),
  range("192.88.99.0", 24, "a relay"),
  range("192.168.0.0", 16, "a private network"),
  range("192.175.48.0", 24, "reserved"),
  range("198.18.0.0", 15, "for benchmarks"),
  range("198.51.100.0", 24, "for documentation"),
  range("203.0.113.0", 24, "for documentation"),
  range("224.0.0.0", 4, "multicast"),
  range("240.0.0.0", 4, "reserved"),
];

/** Only 2000::/3 is public at all. */
const ranges6: readonly Range[] = [
  range("::1", 128, "this machine"),
  range("::", 128, "this machine"),
  range("::", 96, "an IPv4 address in disguise"),
  range("::ffff:0:0", 96, "an IPv4 address in disguise"),
  range("::ffff:0:0:0", 96, "an IPv4 address in disguise"),
  range("64:ff9b:1::", 48, "a private network"),
  range("2001::", 23, "reserved"),
  range("2001:db8::", 32, "for documentation"),
  range("2002::", 16, "an IPv4 address in disguise"),
  range("2620:4f:8000::", 48, "reserved"),
  range("3fff::", 20, "for documentation"),
  range("fc00::", 7, "a private network"),
  range("fe80::", 10, "link-local"),
  range("fec0::", 10, "a private network"),
  range("ff00::", 8, "multicast"),
];
