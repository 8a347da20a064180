import { type Link, openLink } from './link.ts';

/** Where a daemon runs, and how it reaches the others. */
export interface Site {
  /** From it to PostgreSQL and to NATS, and from other daemons to it. */
  links: { database: Link; bus: Link; inbound: Link };
  /** The addresses of what it uses, as it sees them. */
  storeUrl: string;
  busUrl: string;
  model: string;
  /** What starts it, its flags and its environment. */
  start: { through?: readonly string[]; args: readonly string[]; env: Record<string, string> };
}

/** What daemons use, on this machine. */
export interface Services {
  storeUrl: string;
  busUrl: string;
  model: string;
}

export interface Network extends AsyncDisposable {
  /** A site for the next daemon. */
  site(services: Services): Promise<Site>;
}

/** The same address with another host and port. */
export function moved(url: string, to: { host?: string; port: number }): string {
  const next = new URL(url);
  if (to.host !== undefined) next.hostname = to.host;
  next.port = String(to.port);
  return String(next);
}

/** All daemons share the network of this machine; each link is a proxy of the drill. Needs no rights. */
export function proxiedNetwork(): Network {
  const opened: Link[] = [];
  return {
    async site({ storeUrl, busUrl, model }) {
      const links = { database: await openLink(), bus: await openLink(), inbound: await openLink() };
      opened.push(...Object.values(links));
      links.database.leadTo(Number(new URL(storeUrl).port));
      links.bus.leadTo(Number(new URL(busUrl).port));
      return {
        links,
        model,
        storeUrl: moved(storeUrl, { port: links.database.port }),
        busUrl: moved(busUrl, { port: links.bus.port }),
        start: { args: [], env: { HEADGATE_STORE_MACHINE_URL: `http://127.0.0.1:${links.inbound.port}` } },
      };
    },
    async [Symbol.asyncDispose]() {
      for (const link of opened) link[Symbol.dispose]();
    },
  };
}
