/** What is known of a call that got no usable answer. Only a call with an effect leaves something open. */
export function noAnswerTo(
  call: { what: string; hasEffect: boolean },
  { reason, service }: { reason: string; service: string },
): string {
  const known = `There was no usable answer to ${call.what} (${reason}).`;
  return call.hasEffect ? `${known} ${service} may have carried it out.` : known;
}
