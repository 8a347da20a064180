import { isRecord } from '../../../protocol/is-record.ts';
import { createModelWindows, type LearnedWindow, type ModelWindows } from '../../agent/run/window/model-windows.ts';
import type { Log } from '../../log.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { isText, storedReader } from '../store/stored-value.ts';

/** The windows of models. Those that were learned from refusals survive a restart. */
export interface LearnedWindows extends ModelWindows {
  /** Loads what earlier processes learned. */
  load(): Promise<void>;
}

interface LearnedWindowsDeps {
  store: Pick<Store, 'db' | 'commit' | 'reportDamage'>;
  log: Log;
}

interface ModelName {
  alias: string;
  provider: string;
  modelId: string;
}

/** Of the rows in `meta`, one for each model. */
const PREFIX = 'model_window:';

export function createLearnedWindows({ store, log }: LearnedWindowsDeps): LearnedWindows {
  const windows = createModelWindows({
    onLearned({ alias, provider, modelId }, window) {
      const row = toStatement({ alias, provider, modelId }, window);
      // A run does not wait for it: at worst, the server refuses another request after a restart.
      store.commit({ statements: [row] }).catch((err: unknown) => {
        log.warn({ err, alias }, 'a learned context window could not be stored');
      });
    },
  });
  return {
    of: windows.of,
    noteUsage: windows.noteUsage,
    noteOverflow: windows.noteOverflow,
    async load() {
      const rows = store.db
        .selectFrom('meta')
        .select('value')
        .where('key', '>=', PREFIX)
        .where('key', '<', `${PREFIX}~`);
      const read = storedReader(store);
      for (const { value } of await rows.execute()) {
        const found = read(value, 'the learned context window of a model', isStored);
        if (found) windows.restore(found, found);
      }
    },
  };
}

function toStatement(model: ModelName, window: LearnedWindow | undefined): Statement {
  const key = PREFIX + JSON.stringify([model.alias, model.provider, model.modelId]);
  if (!window) return statementOf(build.deleteFrom('meta').where('key', '=', key));
  const value = JSON.stringify({ ...model, ...window });
  const insert = build.insertInto('meta').values({ key, value });
  return statementOf(insert.onConflict((conflict) => conflict.column('key').doUpdateSet({ value })));
}

const isStored = (value: unknown): value is ModelName & LearnedWindow =>
  isRecord(value) &&
  [value.alias, value.provider, value.modelId].every(isText) &&
  [value.size, value.instead].every(Number.isSafeInteger);
