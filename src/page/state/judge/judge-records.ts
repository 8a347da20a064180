import { type ReadonlySignal, signal } from '@preact/signals';
import type { RiskLevel } from '../../../../protocol/events/verdict.ts';
import type { Result } from '../../../../protocol/index.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { type JudgeRecord, toAssessmentRecord, toVerdictRecord } from './judge-words.ts';

/** What is listed: verdicts about calls, or findings in their outputs. */
export type JudgeList = 'verdicts' | 'outputs';

/** Which records are shown; an empty text: all. */
export interface JudgeFilter {
  list: JudgeList;
  wsId: string;
  risk: RiskLevel | '';
  /** Only those of the last so many milliseconds; 0: all. */
  withinMs: number;
}

interface Listing {
  records: readonly JudgeRecord[];
  total: number;
}

/** The risks of a list, from the least to the most. */
export const RISKS_OF: Record<JudgeList, readonly RiskLevel[]> = {
  verdicts: ['low', 'medium', 'high', 'critical'],
  outputs: ['low', 'medium', 'high'],
};

const PAGE = 50;

/** What the judge said about calls, and the output guard about outputs: newest first and page by page. */
export class JudgeRecords {
  readonly #client: Reader;
  readonly #now: () => number;
  readonly reading: Reading;
  readonly #listing = signal<Listing | undefined>(undefined);
  readonly #filter = signal<JudgeFilter>({ list: 'verdicts', wsId: '', risk: '', withinMs: 0 });
  readonly #met = signal<readonly string[]>([]);
  #sinceMs: number | undefined;

  constructor({ client, now }: { client: Reader; now(): number }) {
    this.#client = client;
    this.#now = now;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get listing(): ReadonlySignal<Listing | undefined> {
    return this.#listing;
  }

  get filter(): ReadonlySignal<JudgeFilter> {
    return this.#filter;
  }

  /** The ids of the workstreams of all records read so far. */
  get workstreams(): ReadonlySignal<readonly string[]> {
    return this.#met;
  }

  /** Only the last filter is shown. */
  read(change: Partial<JudgeFilter> = {}): Promise<void> {
    const before = this.#filter.peek();
    const filter = { ...before, ...change };
    if (!RISKS_OF[filter.list].some((risk) => risk === filter.risk)) filter.risk = '';
    this.#filter.value = filter;
    if (filter.list !== before.list) this.#listing.value = undefined;
    this.#sinceMs = filter.withinMs === 0 ? undefined : Math.floor(this.#now() - filter.withinMs);
    return this.#read([]);
  }

  more(): Promise<void> {
    return this.#read(this.#listing.peek()?.records ?? []);
  }

  #read(before: readonly JudgeRecord[]): Promise<void> {
    return this.reading.read(
      () => this.#ask(before),
      ({ records, total }) => {
        const known = new Set(before.map(({ id }) => id));
        this.#listing.value = { records: [...before, ...records.filter(({ id }) => !known.has(id))], total };
        this.#met.value = [...new Set([...this.#met.peek(), ...records.map(({ wsId }) => wsId)])];
      },
    );
  }

  /** Later pages end where the first one began, so that records that were added meanwhile do not move them. */
  async #ask(before: readonly JudgeRecord[]): Promise<Listing> {
    const { list, wsId, risk } = this.#filter.peek();
    const common = {
      limit: PAGE,
      offset: before.length,
      ...(wsId !== '' && { wsId }),
      ...(this.#sinceMs !== undefined && { sinceMs: this.#sinceMs }),
      ...(before[0] && { untilMs: before[0].atMs }),
    };
    if (list === 'outputs') {
      const { assessments, total } = await this.#client.call('assessment.list', {
        ...common,
        ...(isOutputRisk(risk) && { riskLevel: risk }),
      });
      return { records: assessments.map(toAssessmentRecord), total };
    }
    const { verdicts, total } = await this.#client.call('verdict.list', {
      ...common,
      ...(risk !== '' && { riskLevel: risk }),
    });
    return { records: verdicts.map(toVerdictRecord), total };
  }
}

type Assessment = Result<'assessment.list'>['assessments'][number];

const isOutputRisk = (risk: RiskLevel | ''): risk is Assessment['riskLevel'] => risk !== '' && risk !== 'critical';
