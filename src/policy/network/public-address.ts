/**
 * Returns why an IP address is not public, or undefined for one of the public internet. Of IPv6, only ranges known to
 * be public count, and an address with an embedded IPv4 address is as public as that one. Invalid addresses are not
 * public.
 */
export const nonPublicReason = (address: string): string | undefined => {
  const ipv4 = parseIpv4(address);
  if (ipv4 !== undefined) return findRange(ipv4, ipv4Ranges);
  const ipv6 = parseIpv6(address);
  return ipv6 === undefined ? "not an address" : nonPublicIpv6Reason(ipv6);
};

/** A range of addresses: `start` is the prefix of this many bits. */
type AddressRange = { readonly start: bigint; readonly bits: number; readonly what: string };

const findRange = (address: AddressBits, ranges: readonly AddressRange[]): string | undefined =>
  ranges.find(({ start, bits }) => address.value >> (address.width - BigInt(bits)) === start)?.what;

type AddressBits = { readonly value: bigint; readonly width: bigint };

const parseIpv4 = (address: string): AddressBits | undefined => {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return undefined;
  const bytes = address.split(".").map(Number);
  return bytes.every((byte) => byte < 256) ? ipv4Bits(bytes.reduce((sum, byte) => sum * 256 + byte, 0)) : undefined;
};

const ipv4Bits = (value: number | bigint): AddressBits => ({ value: BigInt(value), width: 32n });

/** The URL parser accepts every spelling and returns one: groups of hex digits, the longest run of zeros left out. */
const parseIpv6 = (address: string): AddressBits | undefined => {
  if (!/^[\da-f:.]+$/i.test(address) || !URL.canParse(`http://[${address}]/`)) return undefined;
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const groups = (part: string): readonly string[] => (part === "" ? [] : part.split(":"));
  const after = groups(tail ?? "");
  const zeros = Array.from({ length: 8 - groups(head).length - after.length }, () => "0");
  const hex = [...groups(head), ...zeros, ...after].map((group) => group.padStart(4, "0")).join("");
  return { value: BigInt(`0x${hex}`), width: 128n };
};

const nonPublicIpv6Reason = (ipv6: AddressBits): string | undefined => {
  const lowBits = ipv4Bits(ipv6.value & 0xffff_ffffn);
  const isTunnel = ((ipv6.value >> 32n) & 0xfdff_ffffn) === 0x5efen;
  const embedded = ipv6.value >> 32n === nat64Prefix || isTunnel ? findRange(lowBits, ipv4Ranges) : undefined;
  if (embedded !== undefined) return embedded;
  if (ipv6.value >> 32n === nat64Prefix) return undefined;
  return findRange(ipv6, ipv6Ranges) ?? (ipv6.value >> 125n === 1n ? undefined : "reserved");
};

/** 64:ff9b::/96 (NAT64): how an IPv6-only network reaches IPv4 addresses. */
const nat64Prefix = 0x0064_ff9b_0000_0000_0000_0000n;

const addressRange = (address: string, bits: number, description: string): AddressRange => {
  const { value, width } = parseIpv4(address) ?? parseIpv6(address) ?? { value: 0n, width: 0n };
  return { start: value >> (width - BigInt(bits)), bits, what: description };
};

/** From IANA's registries of special-purpose addresses, and addresses that cloud providers use. */
const ipv4Ranges: readonly AddressRange[] = [
  addressRange("0.0.0.0", 8, "this machine"),
  addressRange("10.0.0.0", 8, "a private network"),
  addressRange("100.64.0.0", 10, "carrier-grade NAT"),
  addressRange("127.0.0.0", 8, "this machine"),
  addressRange("168.63.129.16", 32, "a cloud platform service"),
  addressRange("169.254.0.0", 16, "link-local, used for cloud metadata"),
  addressRange("172.16.0.0", 12, "a private network"),
  addressRange("192.0.0.0", 24, "reserved"),
  addressRange("192.0.2.0", 24, "reserved for documentation"),
  addressRange("192.31.196.0", 24, "reserved"),
  addressRange("192.52.193.0", 24, "reserved"),
  addressRange("192.88.99.0", 24, "a relay"),
  addressRange("192.168.0.0", 16, "a private network"),
  addressRange("192.175.48.0", 24, "reserved"),
  addressRange("198.18.0.0", 15, "reserved for benchmarks"),
  addressRange("198.51.100.0", 24, "reserved for documentation"),
  addressRange("203.0.113.0", 24, "reserved for documentation"),
  addressRange("224.0.0.0", 4, "multicast"),
  addressRange("240.0.0.0", 4, "reserved"),
];

/** Only 2000::/3 is public at all. */
const ipv6Ranges: readonly AddressRange[] = [
  addressRange("::1", 128, "this machine"),
  addressRange("::", 128, "this machine"),
  addressRange("::", 96, "an embedded IPv4 address"),
  addressRange("::ffff:0:0", 96, "an embedded IPv4 address"),
  addressRange("::ffff:0:0:0", 96, "an embedded IPv4 address"),
  addressRange("64:ff9b:1::", 48, "a private network"),
  addressRange("2001::", 23, "reserved"),
  addressRange("2001:db8::", 32, "reserved for documentation"),
  addressRange("2002::", 16, "an embedded IPv4 address"),
  addressRange("2620:4f:8000::", 48, "reserved"),
  addressRange("3fff::", 20, "reserved for documentation"),
  addressRange("fc00::", 7, "a private network"),
  addressRange("fe80::", 10, "link-local"),
  addressRange("fec0::", 10, "a private network"),
  addressRange("ff00::", 8, "multicast"),
];
