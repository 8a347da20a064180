import { GatewayError } from '../../../../protocol/errors.ts';
import { ProviderError } from '../../providers/model.ts';
import { StopReason } from '../../stop-reason.ts';
import { BudgetUsedUp } from '../limits/budget-used-up.ts';

/** Why a conversation is summarized: a person asked for it, or it was almost full. */
type Trigger = 'manual' | 'auto';

/** What happens to a summary until it is stored, for those who watch. The event `compacted` reports the stored one. */
export type SummaryPhase =
  | { phase: 'start'; trigger: Trigger }
  | { phase: 'progress'; part: number; total: number }
  | { phase: 'end'; trigger: Trigger; ok: false; reason: 'cancelled' | 'failed'; message: string };

/** Reports one attempt to summarize. */
export interface SummaryReport {
  /** The model is asked from now on. */
  begun(): Promise<void>;
  /** The model is asked about one of several parts; the first is number 1. */
  part(part: number, total: number): void;
  /** There is no summary, or it could not be stored. Does nothing if none has begun. */
  failed(error: unknown): void;
}

export function reportSummary(trigger: Trigger, tell: (phase: SummaryPhase) => void): SummaryReport {
  let isUnderWay = false;
  return {
    async begun() {
      isUnderWay = true;
      tell({ phase: 'start', trigger });
    },
    part(part, total) {
      if (total > 1) tell({ phase: 'progress', part, total });
    },
    failed(error) {
      if (!isUnderWay) return;
      isUnderWay = false;
      const reason = error instanceof StopReason ? 'cancelled' : 'failed';
      tell({ phase: 'end', trigger, ok: false, reason, message: isForPeople(error) ? error.message : UNSTORED });
    },
  };
}

const FOR_PEOPLE = [StopReason, ProviderError, BudgetUsedUp, GatewayError];
const isForPeople = (error: unknown): error is Error => FOR_PEOPLE.some((kind) => error instanceof kind);

const UNSTORED = 'The summary could not be stored.';
