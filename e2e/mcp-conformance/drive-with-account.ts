import assert from 'node:assert/strict';
import { discoverOAuthServerInfo } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Stage } from '../support/daemon/stage.ts';
import { peopleOf } from '../support/oidc/people.ts';
import { WebVisitor } from '../support/oidc/web-visitor.ts';
import { configure, toServerName } from './configure.ts';
import type { ScenarioServer } from './run-scenario.ts';

/** As often as a person might consent when a call still lacks something. */
const MOST_CONSENTS = 3;
const MOST_CALLS = 8;
/** Stands for the tools as long as they are not known. */
const CONNECT = 'connect';
/** The document that the suite expects, where a provider reads such documents. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json';

/** What the suite tells a client that was registered by hand. */
const Registered = z.object({ client_id: z.string(), client_secret: z.string() });
const Refusal = z.object({ error: z.object({ consent_url: z.string() }) });

/**
 * Lets a daemon use the server of a scenario with an account, as people would: an agent calls a tool, its person opens the
 * address that the call names and consents, and the agent calls again.
 */
export async function driveWithAccount(stage: Stage, { scenario, url, context }: ScenarioServer): Promise<void> {
  const { daemon } = stage;
  const name = toServerName(scenario);
  const operator = await daemon.client();
  const visitor = new WebVisitor();
  const { use } = peopleOf(stage, name);
  try {
    await logIn(visitor, daemon.url, (await operator.call('auth.link', {})).url);
    await configure(daemon.home, {
      servers: { [name]: { url, oauth: await toOAuth(context, url), autoApprove: true } },
      clientMetadataUrl: DOCUMENT,
    });
    await operator.call('config.reload', {});
    let consents = 0;
    for (let calls = 0; calls < MOST_CALLS; calls += 1) {
      const tool = await toolOf(name);
      const output = await use(operator, tool);
      const refusal = toRefusal(output);
      if (refusal === undefined && tool !== CONNECT) return void assert.match(output, /^test$/m);
      if (refusal === undefined) continue; // now its tools are known
      assert.ok(consents < MOST_CONSENTS, `after ${consents} consents: ${output}`);
      consents += 1;
      const end = await visitor.follow(refusal.error.consent_url, (to) => to.startsWith(`${daemon.url}/?mcp_oauth`));
      assert.equal(new URL(end).search, `?mcp_oauth_success=${name}`);
    }
    assert.fail(`the tools of ${name} are not known after ${MOST_CALLS} calls`);
  } finally {
    await configure(daemon.home, { servers: {} });
    await operator.call('config.reload', {});
    operator.close();
  }

  /** The first tool of the server, or the one that asks for an account as long as there is none. */
  async function toolOf(server: string): Promise<string> {
    const { servers } = await operator.call('mcp.list', {});
    return servers.find((one) => one.name === server)?.tools[0]?.tool ?? CONNECT;
  }
}

/** A client that was registered by hand is used only with the provider that a person names: the one of the scenario. */
async function toOAuth(context: string | undefined, url: string): Promise<object> {
  const known = context === undefined ? undefined : Registered.safeParse(JSON.parse(context)).data;
  if (!known) return {};
  const { authorizationServerMetadata, authorizationServerUrl } = await discoverOAuthServerInfo(url);
  const issuer = authorizationServerMetadata?.issuer ?? authorizationServerUrl;
  return { clientId: known.client_id, issuer, clientSecret: known.client_secret };
}

/** Undefined: the call was made. */
function toRefusal(output: string): z.infer<typeof Refusal> | undefined {
  try {
    return Refusal.safeParse(JSON.parse(output)).data;
  } catch {
    return undefined; // what a tool says is no JSON
  }
}

async function logIn(visitor: WebVisitor, base: string, link: string): Promise<void> {
  const [, code] = /#login=(\S+)/.exec(link) ?? [];
  const { status } = await visitor.get(`${base}/v1/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  assert.equal(status, 200);
}
