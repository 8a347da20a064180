import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { KnownRedactor, type KnownSecrets } from './known-secrets.ts';
import { type Assessment, type OutputFlag, toAssessment } from './output-assessment.ts';
import { findFlags } from './output-checks.ts';
import { Redactor } from './redactor.ts';
import { VisibleOutput } from './visible-output.ts';

/** Checks everything that tools return, before anybody else reads it. */
export interface OutputGuard {
  /** For an output that arrives in pieces. */
  open(): GuardedText;
  /** For a whole text. `also`: what was found in the output that it is a part of. */
  check(text: string, also?: Pick<GuardedText, 'found' | 'isRedacted'>): Promise<CheckedText>;
  /** For a short text; nothing is reported. */
  clean(text: string): string;
}

export interface CheckedText {
  text: string;
  /** Absent when there is nothing to report. */
  assessment?: Assessment | undefined;
}

/** An output that arrives in pieces. Each piece is passed on at once, unless it ends with what may be a secret. */
export interface GuardedText {
  write(piece: string): string;
  /** The text that was held back. */
  end(): string;
  readonly found: ReadonlySet<OutputFlag>;
  readonly isRedacted: boolean;
}

interface GuardDeps {
  /** Read at each use, because the daemon learns new ones. */
  known(): KnownSecrets;
  /** Read at each use. */
  settings: GuardSettings;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
}

/** What people set. */
export interface GuardSettings {
  /** Whether outputs are assessed. Secrets of the daemon are hidden in any case. */
  readonly outputGuard: boolean;
  /** Whether everything that looks like a secret is replaced by a tag. */
  readonly redactSecrets: boolean;
}

/** The time for one output. */
const BUDGET_MS = 5_000;
/** Characters that are checked without a pause. */
const SLICE = 64 * 1024;
/** How much of a slice is checked again with the next one, because a finding may lie across both. */
const OVERLAP = 1_024;

export function createOutputGuard(deps: GuardDeps): OutputGuard {
  const open = () => guardedText(deps);
  return {
    open,
    async check(whole, also) {
      const text = await passThrough(whole, open());
      if (!deps.settings.outputGuard) return { text: text.shown };
      const found = await findAll(text.shown, deps);
      for (const flag of [...text.of.found, ...(also?.found ?? [])]) found.add(flag);
      const isRedacted = text.of.isRedacted || (also?.isRedacted ?? false);
      return { text: text.shown, assessment: toAssessment(found, { length: whole.length, isRedacted }) };
    },
    clean(text) {
      const guarded = open();
      return guarded.write(text) + guarded.end();
    },
  };
}

async function passThrough(whole: string, of: GuardedText): Promise<{ shown: string; of: GuardedText }> {
  if (whole.length <= SLICE) return { shown: of.write(whole) + of.end(), of };
  const shown: string[] = [];
  for (let at = 0; at < whole.length; at += SLICE) {
    shown.push(of.write(whole.slice(at, at + SLICE)));
    await nextTurn();
  }
  shown.push(of.end());
  return { shown: shown.join(''), of };
}

async function findAll(text: string, { clock, log }: GuardDeps): Promise<Set<OutputFlag>> {
  const untilMs = clock.monotonic() + BUDGET_MS;
  const isLate = () => clock.monotonic() > untilMs;
  const found = new Set<OutputFlag>();
  try {
    for (let at = 0; at === 0 || at < text.length; at += SLICE) {
      if (at > 0) await nextTurn();
      for (const flag of findFlags(text.slice(Math.max(0, at - OVERLAP), at + SLICE), isLate)) found.add(flag);
      if (isLate()) break;
    }
  } catch (error) {
    log.error({ err: error }, 'an output could not be checked');
    found.add('guard_failed');
  }
  return found;
}

/**
 * If looking for secrets fails, the rest of the output passes with the flag, but only through the search for the daemon's
 * own secrets, which is another and simpler one.
 */
function guardedText({ known: knownNow, settings, log }: GuardDeps): GuardedText {
  const known = knownNow();
  const visible = new VisibleOutput();
  const redactor = new Redactor({ known, hidesAll: settings.redactSecrets && settings.outputGuard });
  let simple: KnownRedactor | undefined;
  const guarded = (work: () => string, piece: string): string => {
    try {
      if (!simple) return work();
    } catch (error) {
      log.error({ err: error }, 'an output could not be searched for secrets');
    }
    simple ??= new KnownRedactor(known, redactor.held());
    return simple.write(piece);
  };
  return {
    write: (piece) => guarded(() => redactor.write(visible.write(piece)), piece),
    end: () => guarded(() => redactor.write(visible.end()) + redactor.end(), '') + (simple?.end() ?? ''),
    get found() {
      return new Set([...visible.flags, ...redactor.flags, ...(simple ? (['guard_failed'] as const) : [])]);
    },
    get isRedacted() {
      return redactor.isRedacted || (simple?.isRedacted ?? false);
    },
  };
}
