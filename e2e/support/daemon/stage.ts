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

let shared: Promise<Stage> | undefined;

/**
 * One daemon and its model for all files of this process that call this. For tests that change nothing but workstreams of their
 * own, and do not count or list those of others.
 */
export function sharedStage(): Promise<Stage> {
  shared ??= openStage({ config: { server: { maxWorkstreams: 1_000 } } });
  return shared;
}
