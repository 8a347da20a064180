import { GatewayError } from '../../../protocol/errors.ts';
import { MOST_RULES, type Rule } from '../../../protocol/methods/admin/rule.ts';
import type { CallRules } from '../../agent/permissions/rules/call-rules.ts';
import { compileCallRules } from '../../agent/permissions/rules/compile-rules.ts';
import { isBelow } from '../../agent/permissions/rules/matching.ts';
import { inRuleOrder } from '../../agent/permissions/rules/rule-source.ts';
import { toPolicyFinder } from '../../agent/run/approval/policy-rule.ts';
import type { ToolRules } from '../../agent/run/approval/tool-rules.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { FirmEnds } from '../../timing/firm-ends.ts';
import { DELETED } from '../store/deletion.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import { deleteRule, insertRule, placeOf, toRule, toSource, updateRule } from './rule-rows.ts';
import { RuleUses } from './rule-uses.ts';

/** What people choose of a rule. */
export type NewRule = Pick<Rule, 'action' | 'match'> &
  Partial<Pick<Rule, 'wsId' | 'folder' | 'userId' | 'priority' | 'given'>> & {
    /** Absent: without end. */
    lastsMs?: number | undefined;
    by: string;
  };

export type RuleChange = Partial<Pick<Rule, 'action' | 'priority'>> & { lastsMs?: number | null | undefined };

/** Whose calls rules are about. */
export interface RulesPlace {
  wsId: string;
  workdir: string;
  ownerId: string;
}

interface RulesDeps {
  store: Pick<Store, 'db' | 'commit' | 'reportDamage'>;
  /** The tool policies, as they are now. */
  policies: { readonly rules: ToolRules };
  clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

/** The rules of a place, until one of them ends by either clock. */
interface Prepared {
  rules: CallRules;
  policies: ToolRules;
  untilMs: number;
  untilElapsedMs: number;
}

/** So many places have prepared rules at once. */
const MOST_PLACES = 500;

/**
 * The permission rules. They are held in memory, because every call asks them, and prepared once per place and change. A change
 * takes effect when it is stored.
 */
export class Rules {
  readonly #deps: RulesDeps;
  readonly #uses: RuleUses;
  readonly #ends: FirmEnds;
  #rules: readonly Rule[] | undefined;
  readonly #prepared = new Map<string, Prepared>();

  constructor(deps: RulesDeps) {
    this.#deps = deps;
    this.#uses = new RuleUses(deps);
    this.#ends = new FirmEnds(deps.clock);
  }

  /** Reads them. No run may start before, as it would start without them. */
  async load(): Promise<void> {
    const { store, log } = this.#deps;
    const rows = await store.db.selectFrom('rules').selectAll().execute();
    const rules = rows.map(toRule);
    const damaged = rules.filter((rule) => rule === undefined).length;
    if (damaged > 0) log.error({ damaged }, 'stored permission rules cannot be read, and do not hold');
    this.#take(rules.flatMap((rule) => rule ?? []));
  }

  /** Writes the counts of uses now and then. */
  run(signal: AbortSignal): Promise<void> {
    return this.#uses.run(signal);
  }

  /** Those that hold, in the order in which they decide. */
  list(): readonly Rule[] {
    const rules = (this.#rules ?? notLoaded()).filter((rule) => this.#leftMs(rule) > 0);
    return inRuleOrder(rules.map((rule) => ({ ...rule, ...this.#uses.of(rule), place: placeOf(rule) }))).map(
      ({ place: _, ...rule }) => rule,
    );
  }

  find(ruleId: string): Rule | undefined {
    return this.list().find((rule) => rule.ruleId === ruleId);
  }

  /** The rules about the calls of one workstream, as they are now. */
  of(place: RulesPlace): CallRules {
    const { policies, clock } = this.#deps;
    const key = `${place.wsId}\n${place.ownerId}\n${place.workdir}`;
    const known = this.#prepared.get(key);
    const isTimely = known && clock.now() < known.untilMs && clock.monotonic() < known.untilElapsedMs;
    if (isTimely && known.policies === policies.rules) return known.rules;
    const prepared = this.#prepare(place);
    if (this.#prepared.size >= MOST_PLACES) this.#prepared.clear();
    this.#prepared.set(key, prepared);
    return prepared.rules;
  }

  #prepare(place: RulesPlace): Prepared {
    const { clock } = this.#deps;
    const { rules: policies } = this.#deps.policies;
    const held = this.list().filter((rule) => holdsIn(rule, place));
    const compiled = compileCallRules(held.map(toSource), toPolicyFinder(policies));
    const lefts = (this.#rules ?? []).map((rule) => this.#leftMs(rule)).filter((ms) => ms > 0);
    const leftMs = Math.min(Number.POSITIVE_INFINITY, ...lefts);
    const used: CallRules['used'] = ({ ruleId, source }) => source === 'rule' && this.#uses.add(ruleId);
    const [untilMs, untilElapsedMs] = [clock.now() + leftMs, clock.monotonic() + leftMs];
    return { rules: { ...compiled, used }, policies, untilMs, untilElapsedMs };
  }

  #leftMs(rule: Rule): number {
    return rule.expiresAtMs === undefined ? Number.POSITIVE_INFINITY : this.#ends.leftMs(rule, rule.expiresAtMs);
  }

  /** A rule that is not in force yet: `statements` store it, and `apply` puts it into force. */
  prepare({ lastsMs, by, priority = 0, ...fields }: NewRule): { rule: Rule; statements: Statement[]; apply(): void } {
    const before = this.list();
    if (before.length >= MOST_RULES) throw new GatewayError('CONFLICT', `Maximum of ${MOST_RULES} rules reached`);
    const nowMs = this.#deps.clock.now();
    const rule: Rule = {
      ruleId: this.#deps.ids.id('rule'),
      ...fields,
      priority,
      ...(lastsMs !== undefined && { expiresAtMs: nowMs + lastsMs }),
      createdBy: by,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      uses: 0,
    };
    return { rule, statements: [insertRule(rule)], apply: () => this.#take([...(this.#rules ?? []), rule]) };
  }

  async create(fields: NewRule, also: (rule: Rule) => readonly Statement[]): Promise<Rule> {
    const { rule, statements, apply } = this.prepare(fields);
    await this.#commit([...statements, ...also(rule)]);
    apply();
    return rule;
  }

  /** Throws NOT_FOUND. */
  async update(ruleId: string, { lastsMs, ...change }: RuleChange, also: readonly Statement[]): Promise<Rule> {
    const nowMs = this.#deps.clock.now();
    const before = this.#rules?.find((rule) => rule.ruleId === ruleId); // without the uses, which are counted apart
    if (before === undefined) throw ruleMissing();
    const { expiresAtMs, ...rest } = before;
    const end = lastsMs === undefined ? expiresAtMs : lastsMs === null ? undefined : nowMs + lastsMs;
    const rule = { ...rest, ...change, ...(end !== undefined && { expiresAtMs: end }), updatedAtMs: nowMs };
    if (lastsMs === undefined) this.#ends.keep(before, rule);
    await this.#commit([updateRule(rule), ...also]);
    this.#take((this.#rules ?? []).map((one) => (one.ruleId === rule.ruleId ? rule : one)));
    return rule;
  }

  /** Throws NOT_FOUND. */
  async remove({ ruleId }: Rule, also: readonly Statement[]): Promise<void> {
    await this.#commit([deleteRule(ruleId), ...also]);
    this.#take((this.#rules ?? []).filter((one) => one.ruleId !== ruleId));
  }

  /** The conversation is over, and the stored rules that were allowed in it are gone. */
  endIn(wsId: string): void {
    const left = (this.#rules ?? []).filter((rule) => rule.wsId !== wsId || rule.action !== 'allow');
    if (left.length !== this.#rules?.length) this.#take(left);
  }

  /** Forgets the rules of workstreams that are gone, with which the stored ones went. Never rejects. */
  async sweep(): Promise<void> {
    const { store, log } = this.#deps;
    const gone = new Set((this.#rules ?? []).flatMap(({ wsId }) => wsId ?? []));
    if (gone.size === 0) return;
    try {
      const there = store.db
        .selectFrom('workstreams')
        .select('ws_id')
        .where('ws_id', 'in', [...gone]);
      for (const { ws_id } of await there.where('loaded', '!=', DELETED).execute()) gone.delete(ws_id);
    } catch (err) {
      log.warn({ err }, 'permission rules of removed workstreams could not be forgotten');
      return;
    }
    const left = (this.#rules ?? []).filter(({ wsId }) => wsId === undefined || !gone.has(wsId));
    if (left.length !== this.#rules?.length) this.#take(left);
  }

  #take(rules: readonly Rule[]): void {
    this.#rules = rules;
    this.#prepared.clear();
    for (const rule of rules) this.#leftMs(rule); // from now on, setting the clock back makes none last longer
  }

  async #commit(statements: Statement[]): Promise<void> {
    try {
      await this.#deps.store.commit({ statements, durable: true });
    } catch (error) {
      throw error instanceof UnitRefused ? ruleMissing(error) : error;
    }
  }
}

/** Whether a rule is about calls of this place. */
export const holdsIn = ({ wsId, folder, userId }: Rule, place: RulesPlace): boolean =>
  (wsId === undefined || wsId === place.wsId) &&
  (folder === undefined || isBelow(folder, place.workdir)) &&
  (userId === undefined || userId === place.ownerId);

/** A run without the rules could do what they forbid. */
function notLoaded(): never {
  throw new Error('the permission rules are not loaded yet');
}

export const ruleMissing = (cause?: unknown) => new GatewayError('NOT_FOUND', 'Rule not found', { cause });
