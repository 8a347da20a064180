import type { CommandReading, Effect } from '../command-reading.ts';
import { findHostRule } from './host-rule.ts';
import { compileMatch, type Fit, type Matcher, type RuledCall, strictest, widest } from './matching.ts';
import { inRuleOrder, type RuleSource } from './rule-source.ts';
import { findSpecial, type SpecialPermission } from './special-permission.ts';

/** What the rules say about a call. */
export interface RulesVerdict {
  /** Denies it. */
  deny?: RuleSource;
  /** Denies it perhaps: the call is not known completely. */
  unclear?: RuleSource;
  /** Asks about a part of it. */
  ask?: RuleSource;
  /** Allows it, or a part of it. */
  allow?: RuleSource;
  /** What no rule allows; absent if `allow` covers everything. */
  left?: CommandReading;
  /** What of it only such rules allow that name it. */
  special: SpecialPermission;
}

/** The rules of one place, prepared once per change. */
export interface CompiledRules {
  judge(call: RuledCall): RulesVerdict;
  /** The rule by host that decides about a connection of a command. */
  onHost(call: RuledCall, host: string): RuleSource | undefined;
  /** The same rules and one more. */
  with(rule: RuleSource): CompiledRules;
}

interface Compiled {
  rule: RuleSource;
  matcher: Matcher;
}

/**
 * Prepares rules. `policyFor` finds the tool policy that decides about the names of a call: of the policies, only the first one
 * counts (decision 73), as a rule that holds everywhere.
 */
export function compileCallRules(
  rules: readonly RuleSource[],
  policyFor: (names: readonly string[]) => RuleSource | undefined,
): CompiledRules {
  const compiled = inRuleOrder(rules).map(toCompiled);
  return {
    judge(call) {
      const on = (one: RuledCall) => judge(one, withPolicy(compiled, policyFor(one.names)));
      const verdict = on(call);
      return call.later === undefined ? verdict : { ...against(on({ ...call, ...call.later })), ...verdict };
    },
    onHost: (call, host) => findHostRule(call, host, compiled),
    with: (rule) => compileCallRules([...rules, rule], policyFor),
  };
}

/** Only what speaks against a call: being allowed later allows nothing now. */
const against = ({ deny, unclear, ask, special }: RulesVerdict): RulesVerdict => ({
  special,
  ...(deny && { deny }),
  ...(unclear && { unclear }),
  ...(ask && { ask }),
});

const toCompiled = (rule: RuleSource): Compiled => ({ rule, matcher: compileMatch(rule.match) });

const POLICIES = new WeakMap<RuleSource, Compiled>();

function withPolicy(compiled: readonly Compiled[], policy: RuleSource | undefined): readonly Compiled[] {
  if (policy === undefined) return compiled;
  const known = POLICIES.get(policy) ?? toCompiled(policy);
  POLICIES.set(policy, known);
  if (compiled.length === 0) return [known];
  const [first] = inRuleOrder([policy, ...compiled.map(({ rule }) => rule)]);
  if (first === policy) return [known, ...compiled];
  const at = inRuleOrder([policy, ...compiled.map(({ rule }) => rule)]).indexOf(policy);
  return compiled.toSpliced(at, 0, known);
}

function judge(call: RuledCall, ordered: readonly Compiled[]): RulesVerdict {
  const found = ordered.filter(({ matcher }) => matcher.fitsCall(call));
  const special = findSpecial(call, found);
  if (found.length === 0) return { special, ...(call.reading && { left: call.reading }) };
  const denied = found.filter(({ rule }) => rule.action === 'deny');
  const others = found.filter(({ rule }) => rule.action !== 'deny');
  const parts = call.reading ? partsOf(call.reading) : [];
  for (const { rule, matcher } of denied)
    if (fitOf(call, matcher, { parts, named: NOTHING }) === 'yes') return { deny: rule, special };
  const { verdict, named } = decideParts(call, parts, others);
  const unclear = denied.find(({ matcher }) => fitOf(call, matcher, { parts, named }) === 'maybe')?.rule;
  return { ...verdict, special, ...(unclear && { unclear }) };
}

/** A part of a call that is decided by itself: a gap, the program of a command, or an effect. */
type Part =
  | { kind: 'whole' }
  | { kind: 'gap' }
  | { kind: 'command'; index: number }
  | { kind: 'effect'; effect: Effect };

const NOTHING: ReadonlySet<Part> = new Set();

interface SomeParts {
  parts: readonly Part[];
  /** Parts that a person allowed by their program or their exact text. */
  named: ReadonlySet<Part>;
}

/** How well a rule that denies fits a call. */
function fitOf(call: RuledCall, matcher: Matcher, { parts, named }: SomeParts): Fit {
  const { reading } = call;
  if (matcher.isWhole) return 'yes';
  if (reading === undefined || isElsewhere(call)) return 'no';
  return widest(parts.map((part) => (named.has(part) ? onlyYes : asIs)(fitOfPart(reading, part, matcher))));
}

/** Programs, paths and hosts are those of this machine; what a node does is matched by its id and its command. */
const isElsewhere = ({ node }: RuledCall): boolean => node !== undefined;

const asIs = (fit: Fit): Fit => fit;
const onlyYes = (fit: Fit): Fit => (fit === 'yes' ? 'yes' : 'no');

/** Words that are not known are in the commands and effects that have them. */
const hides = ({ gaps }: CommandReading): boolean => gaps.some(({ reason }) => reason !== 'unknown_words');

function partsOf(reading: CommandReading): Part[] {
  return [
    ...(hides(reading) ? [{ kind: 'gap' as const }] : []),
    ...reading.commands.map((_, index) => ({ kind: 'command' as const, index })),
    ...reading.effects.map((effect) => ({ kind: 'effect' as const, effect })),
  ];
}

/** How well a rule that asks or denies fits a part. */
function fitOfPart(reading: CommandReading, part: Part, matcher: Matcher): Fit {
  if (part.kind === 'whole') return 'no';
  if (part.kind === 'gap') return 'maybe';
  if (part.kind === 'command') {
    const command = reading.commands[part.index];
    return matcher.hasEffect || command === undefined ? 'no' : matcher.fitsCommand(command);
  }
  const { effect } = part;
  if (effect.kind === 'unknown') return 'maybe';
  if (!matcher.hasEffect) return 'no'; // its command counts
  return strictest([programFit(reading, effect, matcher), matcher.fitsEffect(effect)]);
}

function programFit({ commands }: CommandReading, { by }: Effect, matcher: Matcher): Fit {
  if (!matcher.hasProgram) return 'yes';
  const command = by === undefined ? undefined : commands[by];
  return command === undefined ? 'no' : matcher.fitsCommand(command);
}

interface Parts {
  verdict: Omit<RulesVerdict, 'special'>;
  named: ReadonlySet<Part>;
}

/** Finds the first rule for every part: it asks if one part does, and allows what is left over after all parts. */
function decideParts(call: RuledCall, inside: readonly Part[], ordered: readonly Compiled[]): Parts {
  const { reading } = call;
  const whole: Part = { kind: 'whole' };
  const parts = [whole, ...inside];
  const first = new Map(parts.map((part) => [part, ordered.find((one) => applies(call, part, one))]));
  const rules = [...first.values()].flatMap((one) => one ?? []);
  const ask = rules.find(({ rule }) => rule.action === 'ask')?.rule;
  const allow = rules.find(({ rule }) => rule.action === 'allow')?.rule;
  const isAllowed = (part: Part) => first.get(part)?.rule.action === 'allow';
  const named = new Set(parts.filter((part) => isAllowed(part) && first.get(part)?.matcher.namesCommand));
  const left = reading && !isAllowed(whole) ? leftOf(reading, parts, isAllowed) : undefined;
  return {
    verdict: { ...(ask && { ask }), ...(allow && { allow }), ...(left && { left }) },
    named,
  };
}

/** A rule that asks applies where it may match, one that allows only where it does. */
function applies(call: RuledCall, part: Part, { rule, matcher }: Compiled): boolean {
  const { reading } = call;
  if (matcher.isWhole) return true;
  if (part.kind === 'whole' || reading === undefined || isElsewhere(call)) return false;
  if (rule.action === 'ask') return fitOfPart(reading, part, matcher) !== 'no' && !isUnknown(part);
  if (part.kind === 'gap') return false;
  if (part.kind === 'command') {
    const command = reading.commands[part.index];
    return !matcher.hasEffect && command !== undefined && matcher.allowsCommand(command, call);
  }
  const { effect } = part;
  if (matcher.hasEffect && matcher.fitsEffect(effect) !== 'yes') return false;
  return matcher.hasProgram ? allowsProgramOf(effect, matcher, { ...call, reading }) : isCertain(effect);
}

function allowsProgramOf({ by }: Effect, matcher: Matcher, call: RuledCall & { reading: CommandReading }): boolean {
  const command = by === undefined ? undefined : call.reading.commands[by];
  return command !== undefined && matcher.allowsCommand(command, call);
}

/** What is not known is asked about anyway, unless a rule names its program. */
const isUnknown = (part: Part): boolean => part.kind === 'effect' && part.effect.kind === 'unknown';

const isCertain = ({ kind, certain }: Effect): boolean => certain && kind !== 'unknown';

/** What no rule allows; undefined if that is nothing. */
function leftOf(
  reading: CommandReading,
  parts: readonly Part[],
  isAllowed: (part: Part) => boolean,
): CommandReading | undefined {
  const effects = parts.flatMap((part) => (part.kind === 'effect' && !isAllowed(part) ? [part.effect] : []));
  const isAll = effects.length === reading.effects.length;
  const isNothing = effects.length === 0 && reading.effects.length > 0 && !hides(reading);
  if (isNothing) return undefined;
  return isAll ? reading : { ...reading, effects };
}
