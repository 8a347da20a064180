/**
 * The code by which a person recognizes a node: `4F2A-91C3`, the first eight characters of the request's id. The gateway
 * chooses these ids at random, so a second request cannot be made to match.
 */
export function pairingCodeOf(requestId: string): string {
  const digits = requestId.replaceAll(/[^0-9a-zA-Z]/g, '').toUpperCase();
  return `${digits.slice(0, 4)}-${digits.slice(4, 8)}`;
}
