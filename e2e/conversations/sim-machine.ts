import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ParamsInput } from '../../protocol/index.ts';
import type { Surroundings } from '../../src/agent/prefix/surroundings.ts';
import type { Models } from '../../src/agent/providers/model.ts';
import { createConfinement } from '../../src/agent/tools/files/confinement.ts';
import { type HeldFolder, holdFolder } from '../../src/agent/tools/files/held-folder.ts';
import { type Toolbox, toolboxFor } from '../../src/agent/tools/toolbox.ts';
import type { Clock } from '../../src/clock.ts';
import type { ServedMethod } from '../../src/gateway/call.ts';
import { LOCAL } from '../../src/gateway/coordinators/coordinators-fixture.ts';
import { createMessageRecall } from '../../src/gateway/recall/message-recall.ts';
import { LIVE } from '../../src/gateway/testing/default-deps.ts';
import { fakeWorkdirs } from '../../src/gateway/testing/fake-workdirs.ts';
import { type CallAs, wholeGateway } from '../../src/gateway/testing/whole-gateway.ts';
import type { WireServerOptions } from '../support/wires/wire-server.ts';
import { simOutputChecks } from './knowledge/sim-output-checks.ts';
import { ALIASES, aboutModel, openModels } from './model-servers.ts';
import { type ToolRelease, type ToolWorld, toolsOf } from './sim-tools.ts';

/** What surrounds the conversations of a machine, and may change. */
export interface SimSurroundings {
  release: ToolRelease;
  /** The text of AGENTS.md; undefined: there is none. */
  instructions: string | undefined;
}

/** A whole gateway over a real store, with the real providers. A restart begins with new models, as a process does. */
export async function openSimMachine(
  surroundings: SimSurroundings,
  servers: WireServerOptions & {
    /** A daemon ends, and another one begins. */ whileEnding(work: () => Promise<void>): Promise<void>;
  },
) {
  const clock: { current?: Clock } = {};
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'headgate-sim-')));
  const folders = createFolders(root);
  const world: ToolWorld = {
    confinement: createConfinement({ home: path.join(root, 'home') }),
    commands: () => machine.background.commands,
    memories: () => machine.memories.agents,
    skills: () => machine.skills.usable,
    history: () => createMessageRecall(machine),
    running: new Set(),
  };
  let toolbox = toolsOf(surroundings.release, world);
  const now = () => clock.current?.now() ?? 0;
  const models = createProcessModels(servers, clock);
  const machine = await wholeGateway({
    models: models.source,
    toolbox: {
      definitions: () => toolbox.definitions(),
      prepare: (call, context) => toolbox.prepare(call, context),
      forCoordinators: leadToolbox(() => toolbox),
    },
    surroundings: surroundingsOf(surroundings, now),
    outputChecks: simOutputChecks,
    live: { ...LIVE, checkpoints: { ...LIVE.checkpoints, enabled: true } },
    workdirs: {
      ...fakeWorkdirs,
      hold: folders.hold,
    },
  });
  clock.current = machine.clock;
  const begin = () => {
    toolbox = toolsOf(surroundings.release, world);
  };
  const close = machine[Symbol.asyncDispose];
  const { call } = machine;
  return Object.assign(machine, {
    world,
    /** As the caller that may coordinate. */
    call: <M extends ServedMethod>(method: M, params: ParamsInput<M>, as: CallAs = {}) =>
      call(method, params, { ...LOCAL, ...as }),
    /** A process of the present release follows. */
    async restartAnew() {
      models.renew();
      begin();
      await servers.whileEnding(() => machine.restart());
    },
    async crashAnew() {
      models.kill();
      begin();
      const left = [...world.running];
      await servers.whileEnding(() => machine.crash());
      for (const end of left) end(); // with their process; nothing of this is stored
    },
    async [Symbol.asyncDispose]() {
      await close();
      await folders.release();
      rmSync(root, { recursive: true, force: true });
    },
  });
}

/** The models of the process that runs now. */
function createProcessModels(servers: WireServerOptions, clock: { current?: Clock }) {
  let opened: ReturnType<typeof openModels> | undefined;
  let killed = new AbortController();
  const current = (): ReturnType<typeof openModels> => {
    if (!clock.current) throw new Error('the machine has no clock yet');
    opened ??= openModels({ ...servers, clock: clock.current, killed: killed.signal });
    return opened;
  };
  const renew = () => {
    opened = undefined;
  };
  return {
    renew,
    kill: () => {
      killed.abort();
      killed = new AbortController();
      renew();
    },
    source: {
      untilReached: () => new Promise(() => undefined),
      resolve: async (alias) => (await current()).resolve(alias),
      open: async (model) => (await current()).open(model),
      list: () => ALIASES.map((alias) => ({ ...aboutModel(alias), contextWindow: 0, isDefault: alias === 'opus' })),
      check: async (alias) => (await current()).check(alias, new AbortController().signal),
      checkCandidate: async ({ model = 'opus' }) => model,
      discover: async () => [],
      current: () => aboutModel('opus'),
      notices: () => [],
      health: () => ({ status: 'up', circuitState: 'closed' }),
    } satisfies Models,
  };
}

/** The tools of coordinators in the present release. */
const leadToolbox = (current: () => Toolbox): Toolbox => ({
  definitions: () => toolboxFor('coordinator', current()).definitions(),
  prepare: (call, context) => toolboxFor('coordinator', current()).prepare(call, context),
});

/** The folders of workstreams, which are made when they are needed. */
function createFolders(root: string) {
  const held = new Map<string, Promise<HeldFolder>>();
  const heldAt = (at: string): Promise<HeldFolder> => {
    mkdirSync(at, { recursive: true });
    const folder = held.get(at) ?? holdFolder(at);
    held.set(at, folder);
    return folder;
  };
  return {
    hold: ({ workdir }: { workdir: string }) => {
      const at = path.join(root, workdir);
      return { path: at, check: async () => ({ folder: await heldAt(at), readable: [] }) };
    },
    async release(): Promise<void> {
      for (const folder of held.values()) await (await folder)[Symbol.asyncDispose]();
    },
  };
}

const surroundingsOf = (about: SimSurroundings, now: () => number): Surroundings => ({
  async look() {
    const { instructions: text } = about;
    const digest = createHash('sha256')
      .update(text ?? '')
      .digest('hex');
    const files = text === undefined ? [] : [{ path: '/work/AGENTS.md', text, digest }];
    return {
      date: new Date(now()).toISOString().slice(0, 10),
      zone: 'Europe/Berlin',
      instructions: { files, untrusted: [] },
    };
  },
});
