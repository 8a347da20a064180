import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';

/** Of the ports at which a daemon looks for servers when a person asks for it: those of programs that few people have. */
const SELDOM_USED = [4891, 5001, 30_000, 1337];

/** A scripted server of models where people find it: at a usual port of this machine. Other tests may have one, too. */
export async function startLocalServer(modelId: string): Promise<ScriptedModel> {
  for (const port of SELDOM_USED) {
    const started = await startScriptedModel({ modelId, port }).catch(() => undefined); // the port is in use
    if (started) return started;
  }
  throw new Error(`All of the ports ${SELDOM_USED.join(', ')} are in use.`);
}
