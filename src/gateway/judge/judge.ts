import type { Models } from '../../agent/providers/model.ts';
import type { RunJudge } from '../../agent/run/run-context.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { type JudgedRun, Judgement, type JudgementDeps, type OpenModel, type Place } from './judgement.ts';

interface JudgeDeps extends JudgementDeps {
  models: Pick<Models, 'resolve' | 'open' | 'list'>;
  live: Pick<LiveSettings, 'judge'>;
  /** The home of the user that commands run as; undefined if it is unknown. */
  userHome: string | undefined;
}

/** Rates the calls of runs that need approval. */
export class Judge {
  readonly #deps: JudgeDeps;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  /** How calls of the workstream are rated outside of runs. Undefined while the judge is off. */
  ratingFor(data: WorkstreamData): Omit<RunJudge, 'begin'> | undefined {
    const { live, userHome } = this.#deps;
    const { enabled, usesModel, confidenceThreshold: threshold } = live.judge;
    if (!enabled) return undefined;
    return { home: userHome, usesModel: usesModel && this.#modelFor(data) !== undefined, threshold };
  }

  /** Undefined while the judge is off. */
  forRun(run: JudgedRun, data: WorkstreamData, place: Place): RunJudge | undefined {
    const settings = this.#deps.live.judge;
    const rating = this.ratingFor(data);
    if (!rating) return undefined;
    const model = rating.usesModel ? this.#modelFor(data) : undefined;
    return {
      ...rating,
      begin: ({ approvalId, items, byJudge }) => {
        const about = { run, data, approvalId, settings, place, byJudge };
        const judgement = new Judgement(about, this.#deps);
        if (model) void judgement.judge(items, model);
        return judgement;
      },
    };
  }

  /**
   * The model of the workstream's judge, of the settings, or of the workstream; without a name the default one. Undefined for
   * the demo model, which cannot judge.
   */
  #modelFor({ judgeModel, modelAlias }: WorkstreamData): OpenModel | undefined {
    const { live, models } = this.#deps;
    const { own, model } = live.judge;
    if (own && judgeModel === null) return () => models.open(own);
    const name = (judgeModel ?? model) || (modelAlias ?? undefined);
    const known = models.list().find(({ alias, isDefault }) => (name === undefined ? isDefault : alias === name));
    return known?.provider === 'demo' ? undefined : () => models.resolve(name);
  }
}
