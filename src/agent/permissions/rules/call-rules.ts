import type { CompiledRules } from './compile-rules.ts';
import type { RuleSource } from './rule-source.ts';

/** The rules about the calls of a run, as they are now: another object after each change. */
export interface CallRules extends CompiledRules {
  /** A rule decided about a call. */
  used(rule: RuleSource): void;
}
