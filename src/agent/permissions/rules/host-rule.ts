import type { Effect, ReadCommand } from '../command-reading.ts';
import type { Fit, Matcher, RuledCall } from './matching.ts';
import type { RuleSource } from './rule-source.ts';

/** What the rules say about a host that a running command connects to. */
export type HostRule = Pick<RuleSource, 'action' | 'ruleId'>;

interface Candidate {
  rule: RuleSource;
  matcher: Matcher;
}

/**
 * The rule by host that decides about a connection of a running command; `ordered`: as they decide. Nobody knows which
 * program of a command connects: a rule about one denies if the command may run it, and never allows.
 */
export function findHostRule(call: RuledCall, host: string, ordered: readonly Candidate[]): RuleSource | undefined {
  const effect: Effect = { kind: 'network', target: host, certain: true };
  const about = ordered.filter(
    ({ rule, matcher }) =>
      rule.match.host !== undefined && matcher.fitsCall(call) && matcher.fitsEffect(effect) === 'yes',
  );
  const deciding = ({ rule, matcher }: Candidate) =>
    rule.action === 'allow' ? !matcher.hasProgram : mayRun(call, matcher);
  // What denies is the first in their order.
  return about.find(deciding)?.rule;
}

function mayRun({ reading }: RuledCall, matcher: Matcher): boolean {
  if (!matcher.hasProgram || reading === undefined) return true;
  const { commands, gaps, effects } = reading;
  const fits = (command: ReadCommand): Fit => matcher.fitsCommand(command);
  return (
    gaps.length > 0 || effects.some(({ kind }) => kind === 'unknown') || commands.some((one) => fits(one) !== 'no')
  );
}
