import { after } from 'node:test';
import { type PostgresServer, startPostgres } from '../../../src/testing/postgres-server.ts';
import { type ScriptedModel, startScriptedModel } from '../model/scripted-model.ts';
import { type DaemonUnderTest, type StartOptions, startDaemon } from './daemon.ts';

interface PostgresScene {
  server: PostgresServer;
  /** Of the daemon's database. */
  url: string;
  model: ScriptedModel;
  daemon: DaemonUnderTest;
}

interface SceneOptions extends Pick<StartOptions, 'env'> {
  /** See `store.retrySecs`. */
  retrySecs?: number;
}

/** One server and one daemon over it for all tests of a file, started by the first one that asks. */
export function postgresScene(options: SceneOptions = {}): () => Promise<PostgresScene> {
  let opened: Promise<PostgresScene> | undefined;
  after(async () => {
    if (opened === undefined) return;
    const { server, model, daemon } = await opened;
    await daemon[Symbol.asyncDispose]();
    await model.close();
    await server.close();
  });
  return () => {
    opened ??= open(options);
    return opened;
  };
}

async function open({ retrySecs, ...options }: SceneOptions): Promise<PostgresScene> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const model = await startScriptedModel();
  const daemon = await startDaemon({ ...options, model: model.url, config: { store: { url, retrySecs } } });
  return { server, url, model, daemon };
}
