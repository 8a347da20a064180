import { after } from 'node:test';
import { type ScriptedModel, startScriptedModel } from '../model/scripted-model.ts';
import { type DaemonUnderTest, type StartOptions, startDaemon } from './daemon.ts';

export interface Stage {
  model: ScriptedModel;
  daemon: DaemonUnderTest;
}

/** One daemon and its model for all tests of a file; each test uses its own workstream. */
export async function openStage(options: Omit<StartOptions, 'model'> = {}): Promise<Stage> {
  const model = await startScriptedModel();
  const daemon = await startDaemon({ ...options, model: model.url });
  after(async () => {
    await daemon[Symbol.asyncDispose]();
    await model.close();
  });
  return { model, daemon };
}
