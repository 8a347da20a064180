import { execFileSync } from 'node:child_process';
import { type Link, openLink, type Way } from './link.ts';
import { moved, type Network, type Site } from './network.ts';

/** What happens to packets that a rule names. */
type Verdict = 'drop' | 'reject with tcp reset';

/** Where the rules of a link apply, as nftables writes it: packets that come to a daemon, and those that leave it. */
interface Crossing {
  arriving: string;
  leaving: string;
}

const say = (program: string, args: readonly string[], input?: string) =>
  void execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['pipe', 'ignore', 'pipe'],
    ...(input !== undefined && { input }),
  });

const ip = (...args: string[]) => say('ip', args);

/**
 * Each daemon has a network of its own: a namespace of Linux with one interface, which a bridge connects with the others and
 * with this machine. The kernel drops or refuses packets by rules of nftables, and slows them by a token bucket, so that the
 * connections behave as they do between machines: they live on without data, resend, and give up. Needs root.
 */
export function namespacedNetwork(): Network {
  const number = process.pid % 250;
  const bridge = `headgate${number}`;
  const here = `10.213.${number}.254`;
  const names: string[] = [];
  const relays: Link[] = [];
  ip('link', 'add', bridge, 'type', 'bridge');
  ip('address', 'add', `${here}/24`, 'dev', bridge);
  ip('link', 'set', bridge, 'up');

  const relayTo = async (url: string): Promise<Link> => {
    const relay = await openLink(here);
    relay.leadTo(Number(new URL(url).port));
    relays.push(relay);
    return relay;
  };
  return {
    async site(services) {
      const name = `${bridge}-${names.length + 1}`;
      const address = `10.213.${number}.${names.length + 1}`;
      names.push(name);
      openNamespace(name, { bridge, address });
      const [store, bus, model] = await Promise.all([
        relayTo(services.storeUrl),
        relayTo(services.busUrl),
        relayTo(services.model),
      ]);
      return {
        links: {
          database: outboundLink(store, name, 'database'),
          bus: outboundLink(bus, name, 'bus'),
          inbound: inboundLink(name, here),
        },
        storeUrl: moved(services.storeUrl, { host: here, port: store.port }),
        busUrl: moved(services.busUrl, { host: here, port: bus.port }),
        model: moved(services.model, { host: here, port: model.port }),
        start: { through: ['ip', 'netns', 'exec', name], args: ['--host', address], env: {} },
      } satisfies Site;
    },
    async [Symbol.asyncDispose]() {
      for (const relay of relays) relay[Symbol.dispose]();
      for (const name of names) ip('netns', 'delete', name);
      ip('link', 'delete', bridge);
    },
  };
}

function openNamespace(name: string, { bridge, address }: { bridge: string; address: string }): void {
  ip('netns', 'add', name);
  // The other end moves into the namespace, and is gone with it.
  ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  ip('link', 'set', name, 'master', bridge, 'up');
  for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
  ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0');
}

interface Filter {
  table: string;
  /** Known once the daemon listens. */
  crossing(): Crossing;
  /** Others connect to it, so that what leaves it goes back. */
  isServer: boolean;
}

/** A link whose connections the kernel of the namespace cuts and holds. */
function filtered(link: Link, name: string, { table, crossing, isServer }: Filter): Link {
  const apply = (verdict: Verdict, sides: readonly (keyof Crossing)[]) => {
    const rules = crossing();
    const chains = sides.map(
      (side) =>
        `chain ${side} { type filter hook ${side === 'arriving' ? 'input' : 'output'} priority 0; ${rules[side]} ${verdict}; }\n`,
    );
    say(
      'ip',
      ['netns', 'exec', name, 'nft', '-f', '-'],
      `${CLEARED(table)}table inet ${table} {\n${chains.join('')}}\n`,
    );
  };
  const sideOf = (way: Way) => ((way === 'out') === isServer ? 'arriving' : 'leaving');
  return {
    ...link,
    cut: () => apply('reject with tcp reset', ['arriving', 'leaving']),
    stall: (ways) => apply('drop', ways.map(sideOf)),
    heal() {
      say('ip', ['netns', 'exec', name, 'nft', '-f', '-'], CLEARED(table));
      link.heal();
    },
  };
}

/** From a daemon to a server that is reached through a relay. */
const outboundLink = (relay: Link, name: string, table: string): Link =>
  filtered(relay, name, {
    table,
    crossing: () => ({ arriving: `tcp sport ${relay.port}`, leaving: `tcp dport ${relay.port}` }),
    isServer: false,
  });

/** A table that does not exist cannot be deleted, so it is made first. */
const CLEARED = (table: string): string => `table inet ${table}\ndelete table inet ${table}\n`;

/** A millisecond later stands for a line that is this much thinner. */
const KBIT_MS = 8_000;
const THINNEST_KBIT = 256;

/** From the other daemons straight to this one; `here` is where clients come from, whose connections are spared. */
function inboundLink(name: string, here: string): Link {
  let port = 0;
  let isSlow = false;
  const plain: Link = {
    get port() {
      return port;
    },
    leadTo(next) {
      port = next;
    },
    usedAt: () => undefined,
    cut: () => undefined,
    stall: () => undefined,
    slow(ms) {
      const rate = `${Math.max(THINNEST_KBIT, Math.round(KBIT_MS / ms))}kbit`;
      say('tc', [
        '-n',
        name,
        'qdisc',
        'replace',
        'dev',
        'eth0',
        'root',
        'tbf',
        'rate',
        rate,
        'burst',
        '16kb',
        'latency',
        '800ms',
      ]);
      isSlow = true;
    },
    heal() {
      if (isSlow) say('tc', ['-n', name, 'qdisc', 'delete', 'dev', 'eth0', 'root']);
      isSlow = false;
    },
    [Symbol.dispose]: () => undefined,
  };
  return filtered(plain, name, {
    table: 'inbound',
    crossing: () => ({
      arriving: `ip saddr != ${here} tcp dport ${port}`,
      leaving: `ip daddr != ${here} tcp sport ${port}`,
    }),
    isServer: true,
  });
}
