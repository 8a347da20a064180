import type { Rule } from '../../../protocol/methods/admin/rule.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../store/store.ts';
import { countUses } from './rule-rows.ts';

interface UsesDeps {
  store: Pick<Store, 'commit'>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  log: Log;
}

interface Use {
  count: number;
  atMs: number;
}

const WRITE_EVERY_MS = 60_000;

/** Counts in memory how often rules decide, because that happens with every call. A crash loses the last minute. */
export class RuleUses {
  readonly #deps: UsesDeps;
  readonly #counted = new Map<string, Use>();
  /** Since the last write; at most one entry per rule. */
  #unwritten = new Map<string, Use>();

  constructor(deps: UsesDeps) {
    this.#deps = deps;
  }

  add(ruleId: string): void {
    const atMs = this.#deps.clock.now();
    for (const uses of [this.#counted, this.#unwritten])
      uses.set(ruleId, { count: (uses.get(ruleId)?.count ?? 0) + 1, atMs });
  }

  /** With the uses since the rule was loaded. */
  of({ ruleId, uses, usedAtMs }: Pick<Rule, 'ruleId' | 'uses' | 'usedAtMs'>): Pick<Rule, 'uses' | 'usedAtMs'> {
    const counted = this.#counted.get(ruleId);
    const at = counted?.atMs ?? usedAtMs;
    return { uses: uses + (counted?.count ?? 0), ...(at !== undefined && { usedAtMs: at }) };
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#deps.clock.sleep(WRITE_EVERY_MS, signal);
      } catch {
        // the daemon stops
      }
      await this.#write();
    }
  }

  async #write(): Promise<void> {
    const uses = this.#unwritten;
    if (uses.size === 0) return;
    this.#unwritten = new Map();
    try {
      await this.#deps.store.commit({ statements: [...uses].map(([ruleId, use]) => countUses(ruleId, use)) });
    } catch (err) {
      this.#deps.log.warn({ err }, 'the uses of permission rules could not be stored');
    }
  }
}
