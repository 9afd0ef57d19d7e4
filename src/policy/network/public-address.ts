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

/** A range of addresses: those that begin with this many bits of the address. */
type AddressRange = readonly [address: string, bits: number, what: string];

/** Parses the addresses only now: every start loads this file, and few connect to anything but a model. */
const findRange = ({ value, width }: AddressBits, ranges: readonly AddressRange[]): string | undefined =>
  ranges.find(([address, bits]) => {
    const others = width - BigInt(bits);
    const first = parseIpv4(address) ?? parseIpv6(address);
    return first !== undefined && value >> others === first.value >> others;
  })?.[2];

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

/** From IANA's registries of special-purpose addresses, and addresses that cloud providers use. */
const ipv4Ranges: readonly AddressRange[] = [
  ["0.0.0.0", 8, "this machine"],
  ["10.0.0.0", 8, "a private network"],
  ["100.64.0.0", 10, "carrier-grade NAT"],
  ["127.0.0.0", 8, "this machine"],
  ["168.63.129.16", 32, "a cloud platform service"],
  ["169.254.0.0", 16, "link-local, used for cloud metadata"],
  ["172.16.0.0", 12, "a private network"],
  ["192.0.0.0", 24, "reserved"],
  ["192.0.2.0", 24, "reserved for documentation"],
  ["192.31.196.0", 24, "reserved"],
  ["192.52.193.0", 24, "reserved"],
  ["192.88.99.0", 24, "a relay"],
  ["192.168.0.0", 16, "a private network"],
  ["192.175.48.0", 24, "reserved"],
  ["198.18.0.0", 15, "reserved for benchmarks"],
  ["198.51.100.0", 24, "reserved for documentation"],
  ["203.0.113.0", 24, "reserved for documentation"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved"],
];

/** Only 2000::/3 is public at all. */
const ipv6Ranges: readonly AddressRange[] = [
  ["::1", 128, "this machine"],
  ["::", 128, "this machine"],
  ["::", 96, "an embedded IPv4 address"],
  ["::ffff:0:0", 96, "an embedded IPv4 address"],
  ["::ffff:0:0:0", 96, "an embedded IPv4 address"],
  ["64:ff9b:1::", 48, "a private network"],
  ["2001::", 23, "reserved"],
  ["2001:db8::", 32, "reserved for documentation"],
  ["2002::", 16, "an embedded IPv4 address"],
  ["2620:4f:8000::", 48, "reserved"],
  ["3fff::", 20, "reserved for documentation"],
  ["fc00::", 7, "a private network"],
  ["fe80::", 10, "link-local"],
  ["fec0::", 10, "a private network"],
  ["ff00::", 8, "multicast"],
];
