import { wordsOf } from '../../../protocol/words-of.ts';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { Candidate } from '../../gateway/store/postgres/lease/candidate.ts';
import type { Hub, HubDeps, OpenHub } from '../../gateway/workers/links/hub.ts';
import { createLeadLink } from '../../gateway/workers/links/lead-link.ts';
import type { Machines, Membership } from '../../gateway/workers/team.ts';
import type { OwnProof } from '../../http/standby/active-daemon.ts';
import type { DaemonOptions } from '../daemon-options.ts';

interface TogetherDeps {
  store: Pick<DaemonStore, 'shared'>;
  /** Absent: no other daemon can use the store. */
  proof: OwnProof | undefined;
  /** Of a worker. */
  candidate: Candidate | undefined;
  /** What it says about itself. */
  membership: Membership;
}

/** How this daemon works together with others; undefined: no other can use its store. */
export async function workingTogether(
  options: DaemonOptions,
  { store, proof, candidate, membership }: TogetherDeps,
): Promise<Machines | undefined> {
  const { busUrl } = options;
  const { shared } = store;
  if (shared === undefined || proof === undefined) return undefined;
  if (busUrl === undefined) return candidate === undefined ? WITHOUT_BUS : undefined;
  const { connectNats, openHub: open } = await import('../../gateway/loaded/loaded-services.ts');
  const bus = hubOpener(options, { busUrl, proof, membership, findKey: shared.publicKeyOf, connectNats, open });
  if (candidate === undefined) return { role: 'lead', ...bus, isBalancing: options.config.store.balance };
  return {
    role: 'worker',
    ...bus,
    membership,
    lead() {
      const { process, publicKey } = candidate.holder() ?? {};
      return process === undefined || publicKey === undefined ? undefined : { process, publicKey };
    },
    leadLink: createLeadLink({ clock: options.clock }),
  };
}

/** It reaches no worker, but knows what workers have, and takes over from those that have gone. */
const WITHOUT_BUS: Machines = { role: 'lead', openHub: async () => undefined, isBalancing: false };

const RETRY_MS = 1_000;

interface OpenerDeps {
  busUrl: string;
  proof: OwnProof;
  membership: Membership;
  findKey(process: string): Promise<string | undefined>;
  connectNats: Loaded['connectNats'];
  open: Loaded['openHub'];
}

type Loaded = typeof import('../../gateway/loaded/loaded-services.ts');

/** The daemon starts also while the bus cannot be reached. */
function hubOpener(
  { clock, ids, log }: DaemonOptions,
  { busUrl: url, proof, membership, findKey, connectNats, open }: OpenerDeps,
): { openHub: OpenHub; isBusConnected: () => boolean } {
  let hub: Hub | undefined;
  return {
    isBusConnected: () => hub?.isConnected === true,
    async openHub(handlers, signal) {
      while (!signal.aborted) {
        try {
          const connect: HubDeps['connect'] = ({ own, onMessage }) => connectNats({ url, own, onMessage, clock, log });
          hub = await open({ own: proof, connect, findKey, clock, ids, log }, handlers);
          membership.trouble = undefined;
          return hub;
        } catch (error) {
          const reason = wordsOf(error);
          if (membership.trouble !== reason) log.warn({ reason }, 'the bus cannot be reached; trying again');
          membership.trouble = reason;
          await clock.sleep(RETRY_MS, signal).catch(() => undefined); // aborted: the loop ends
        }
      }
      return undefined;
    },
  };
}
