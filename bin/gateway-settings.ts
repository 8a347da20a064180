import type { WebhookDestination } from '../src/gateway/channels/webhook.ts';
import type { GatewayDeps } from '../src/gateway/gateway.ts';
import type { Config } from './config.ts';
import { StartError } from './start-error.ts';

interface Given {
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
}

/** What config.json says about the gateway, in the gateway's own terms. */
export const gatewaySettings = (
  given: Given,
): Pick<GatewayDeps, 'approvalMs' | 'maxWorkstreams' | 'heartbeatMs' | 'webhooks'> => ({
  approvalMs: given.config.approvalTimeoutSecs * 1000,
  maxWorkstreams: given.config.server.maxWorkstreams,
  heartbeatMs: given.config.heartbeatMinutes * 60_000,
  webhooks: { destinations: webhooksOf(given), fetch },
});

/** A destination whose secret is not in the environment would send unsigned: the start says so instead. */
function webhooksOf({ config, environment }: Given): Map<string, WebhookDestination> {
  const named = Object.entries(config.channels.webhook).map(([name, { url, secret, secretEnv = '' }]) => {
    const found = secret ?? environment[secretEnv];
    if (!found) throw new StartError(`channels.webhook.${name}: the environment has no ${secretEnv}`);
    return [name, { url, secret: found }] as const;
  });
  return new Map(named);
}
