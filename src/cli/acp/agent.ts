import path from 'node:path';
import { type AgentApp, type AgentContext, agent, type InitializeResponse, methods } from '@agentclientprotocol/sdk';
import { systemTimers } from '../../../protocol/client/timers.ts';
import type { DaemonLink } from './daemon-link.ts';
import { listSessions } from './session-list.ts';
import { toChange } from './session-settings.ts';
import { createSessions } from './sessions.ts';
import { toAcpError, wrongParams } from './told-errors.ts';

interface AgentDeps {
  link: DaemonLink;
  version: string;
  /** The model of new sessions. */
  model: string | undefined;
  newKey(): string;
  /** Prints a line for people; not part of the protocol. */
  tell(line: string): void;
}

const { session } = methods.agent;

/** Headgate as an agent of editors: each session is a workstream of the daemon. */
export function createAgent(deps: AgentDeps): AgentApp {
  const { link, version, tell } = deps;
  const { sessions, create, open, noteForms } = createOpening(deps);
  return agent({ name: 'headgate' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      noteForms(params.clientCapabilities?.elicitation?.form != null);
      return toCapabilities(version);
    })
    .onRequest(methods.agent.authenticate, () => {
      throw wrongParams('There is nothing to log in to: the token of the daemon is used (--token, HEADGATE_TOKEN)');
    })
    .onRequest(session.new, ({ params, client }) => told(() => create(client, params)))
    .onRequest(session.load, ({ params, client }) => told(() => open(client, params, { replays: true })))
    .onRequest(session.resume, ({ params, client }) => told(() => open(client, params, { replays: false })))
    .onRequest(session.list, ({ params }) => told(async () => listSessions(params, (await link.get()).client)))
    .onRequest(session.close, ({ params }) => told(() => sessions.end(params.sessionId)))
    .onRequest(session.setMode, ({ params }) =>
      told(async () => {
        await sessions.get(params.sessionId).change(toChange('mode', params.modeId));
        return {};
      }),
    )
    .onRequest(session.setConfigOption, ({ params }) =>
      told(async () => {
        const chosen = sessions.get(params.sessionId);
        await chosen.change(toChange(params.configId, params.value));
        return { configOptions: chosen.settings.options };
      }),
    )
    .onRequest(session.prompt, ({ params, signal }) =>
      told(() => sessions.get(params.sessionId).prompt(params.prompt, signal)),
    )
    .onNotification(session.cancel, async ({ params }) => {
      const cancelled = sessions.find(params.sessionId)?.cancel();
      await cancelled?.catch((error: unknown) => tell(`A cancel failed: ${toAcpError(error).message}`));
    });
}

/** How sessions begin. */
function createOpening({ link, model, newKey, tell }: AgentDeps) {
  const sessions = createSessions({ link, newKey, tell });
  let hasForms = false;
  const begin = async (client: AgentContext, wsId: string, { replays }: { replays: boolean }) => {
    const { settings } = await sessions.open({ client, wsId, replays, hasForms });
    // Editors know a session only after the answer that names it.
    systemTimers.after(0, () => void sessions.tellCommands(client, wsId).catch(() => undefined));
    return { modes: settings.modes, configOptions: settings.options };
  };
  return {
    sessions,
    noteForms(has: boolean) {
      hasForms = has;
    },
    async create(client: AgentContext, setup: Setup) {
      checkSetup(setup, tell);
      const daemon = await link.get();
      const settings = { workdir: setup.cwd, ...(model !== undefined && { model }) };
      const { wsId: sessionId } = await daemon.client.call('workstream.create', settings);
      return { sessionId, ...(await begin(client, sessionId, { replays: false })) };
    },
    async open(client: AgentContext, setup: Setup & { sessionId: string }, how: { replays: boolean }) {
      checkSetup(setup, tell);
      const daemon = await link.get();
      await daemon.client.call('workstream.open', { wsId: setup.sessionId });
      return begin(client, setup.sessionId, how);
    },
  };
}

/** Errors become answers that say what was wrong. */
async function told<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toAcpError(error);
  }
}

const toCapabilities = (version: string): InitializeResponse => ({
  protocolVersion: 1,
  agentInfo: { name: 'headgate', title: 'Headgate', version },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: false, sse: false },
    sessionCapabilities: { list: {}, resume: {}, close: {} },
  },
  authMethods: [],
});

interface Setup {
  cwd: string;
  additionalDirectories?: readonly string[];
  mcpServers?: readonly { name: string }[];
}

function checkSetup({ cwd, additionalDirectories = [], mcpServers = [] }: Setup, tell: AgentDeps['tell']): void {
  if (!path.isAbsolute(cwd) && !path.win32.isAbsolute(cwd))
    throw wrongParams(`cwd must be an absolute path, not ${cwd}`);
  if (additionalDirectories.length > 0)
    throw wrongParams('additionalDirectories are not supported; allow further folders on the page or with rules');
  if (mcpServers.length === 0) return;
  const names = mcpServers.map(({ name }) => name).join(', ');
  tell(`MCP servers of the editor are not used (${names}); add them to mcp.servers in config.json of the daemon.`);
}
