import { type ClockedDaemon, startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, type Step, say } from '../support/model/scripted-steps.ts';
import { type Listener, listenTo } from './listener.ts';
import { parseModelQuestion } from './race-file.ts';

const CLIENTS = 5;
/** How long a question waits, by the daemon's clock. */
export const EXPIRES_MS = 60_000;

/** What the judge says about the call of a round, and when. */
export interface Bench {
  recommendation: 'approve' | 'deny';
  /** Resolves when it answers. */
  answers: Promise<void>;
}

/** A daemon whose time stands still, a model that asks and judges, and five clients. */
export interface RaceStage extends AsyncDisposable {
  daemon: ClockedDaemon;
  listeners: readonly Listener[];
  /** The judges of the rounds, by the file that is asked about. */
  benches: Map<string, Bench>;
}

export async function openRaceStage(): Promise<RaceStage> {
  const model = await startScriptedModel();
  const benches = new Map<string, Bench>();
  model.onRequest(({ messages }) => {
    const file = parseModelQuestion(messages);
    if (String(messages[0]?.content).startsWith('You judge')) return judgement(benches.get(file));
    if (messages.some(({ role }) => role === 'tool')) return say('done'); // a message about the date may follow
    const isReading = messages.some(({ role, content }) => role === 'user' && String(content).startsWith('read '));
    const call = isReading
      ? { name: 'list_directory', arguments: { path: '/var/log' } }
      : { name: 'write_file', arguments: { path: file, content: 'ran\n' } };
    return callTools({ ...call, id: 'call_race' });
  });
  const daemon = await startClockedDaemon(toConfig(model), { environment: { HEADGATE_SKIP_JUDGE_MODEL: '' } });
  const listeners: Listener[] = [];
  for (let n = 0; n < CLIENTS; n += 1) listeners.push(listenTo(await daemon.connect()));
  return {
    daemon,
    listeners,
    benches,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

const toConfig = ({ url }: ScriptedModel) => ({
  models: { scripted: { provider: 'openai-compatible', model: 'scripted', baseUrl: url } },
  ...{ defaultModel: 'scripted', approvalTimeoutSecs: EXPIRES_MS / 1_000 },
  server: { inbound: { burst: 1_000_000, perSecond: 1_000_000 } },
  ratelimit: { enabled: false },
});

/** The verdict of a judge, once it may answer. */
function judgement(bench: Bench | undefined): Step[] {
  const verdict = {
    ...{ intent_summary: 'Writes a file.', risk_level: 'low', confidence: 0.99, evidence: [] },
    ...{ recommendation: bench?.recommendation ?? 'deny', reasoning: 'By chance.' },
  };
  return [{ run: () => bench?.answers }, say(JSON.stringify(verdict))];
}
