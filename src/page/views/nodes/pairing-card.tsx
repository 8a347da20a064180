import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { NodePairing } from '../../../../protocol/methods/node.ts';
import { pairingCodeOf } from '../../../../protocol/text/pairing-code.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Desk } from '../../state/app.ts';
import { toCommandChanges } from '../../state/nodes/command-changes.ts';
import { type NodeEntry, nodeName } from '../../state/nodes/nodes.ts';
import type { Asking } from '../../state/nodes/pairing-queue.ts';
import { toCountdown } from '../../state/text/moment.ts';
import { Icon } from '../icons.tsx';
import { ClaimedText, Claims } from './claimed-text.tsx';
import { CommandList } from './command-list.tsx';

interface PairingCardProps {
  desk: Desk;
  asking: Asking;
  /** The paired node, if the machine is already paired. */
  known: NodeEntry | undefined;
  /** The current time. */
  now: Signal<number>;
}

/** A pairing request: the code to compare, the details the machine reports, and the decision or the outcome. */
export function PairingCard({ desk, asking, known, now }: PairingCardProps) {
  const { request, endsAtMs, outcome } = asking;
  const { requestId, commands = [] } = request;
  return (
    <li class={`panel-row pairing ${outcome === undefined ? 'open' : 'over'}`}>
      <h2>
        <Icon name="shield" />
        <ClaimedText text={nodeName(request)} />
      </h2>
      <div class="pairing-asked">
        <Wish request={request} known={known} />
        <div class="pairing-code">
          <code>{pairingCodeOf(requestId)}</code>
          {outcome === undefined && <span class="soft">expires in {toCountdown(endsAtMs - now.value)}</span>}
        </div>
        <Claims said={claimsOf(request)} />
        <CommandList label="Requested commands" commands={toCommandChanges(commands, known?.commands)} />
      </div>
      {outcome === undefined ? (
        <Decision desk={desk} request={request} />
      ) : (
        <OutcomeLine outcome={outcome} onDismiss={() => desk.nodes.dismiss(requestId)} />
      )}
    </li>
  );
}

const Wish = ({ request, known }: Pick<PairingCardProps, 'known'> & { request: NodePairing }) => (
  <p class="pairing-wish">
    {request.isRepair ? (
      <>
        Already paired{known && ', as '}
        {known && <ClaimedText text={nodeName(known)} />}, and asks again. Approving replaces its token and its
        commands.
      </>
    ) : (
      'Asks to be paired.'
    )}{' '}
    Approve only if the machine shows this code. All other details are unverified.
  </p>
);

const claimsOf = ({ remoteIp, platform, version, deviceFamily, modelIdentifier, nodeId }: NodePairing) => ({
  Address: remoteIp,
  Platform: platform,
  Version: version,
  Device: deviceFamily,
  Model: modelIdentifier,
  'Node id': nodeId,
});

/** Buttons are disabled this long at first, so that a click meant for something else does not decide. */
const STEADY_MS = 500;

function Decision({ desk, request }: { desk: Desk; request: NodePairing }) {
  const problem = useSignal<string | undefined>(undefined);
  const busy = useSignal(true);
  useEffect(
    () =>
      systemTimers.after(STEADY_MS, () => {
        busy.value = false;
      }),
    [busy],
  );
  const name = toVisibleLine(nodeName(request));
  const decide = async (decision: Promise<string | undefined>) => {
    busy.value = true;
    problem.value = await decision;
    busy.value = false;
  };
  return (
    <>
      <div class="decide">
        <button
          type="button"
          class="primary"
          aria-label={`Approve ${name}`}
          disabled={busy.value}
          onClick={() => void decide(desk.nodes.approve(request.requestId))}
        >
          Approve
        </button>
        <button
          type="button"
          aria-label={`Reject ${name}`}
          disabled={busy.value}
          onClick={() => void decide(desk.nodes.reject(request.requestId))}
        >
          Reject
        </button>
      </div>
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </>
  );
}

const OUTCOMES = {
  approved: { icon: 'check', words: 'Approved' },
  rejected: { icon: 'cross', words: 'Rejected' },
  expired: { icon: 'clock', words: 'No longer waiting: the request expired, or the machine left or asked again' },
} as const;

interface OutcomeLineProps {
  outcome: NonNullable<Asking['outcome']>;
  onDismiss(): void;
}

/** The outcome of a request. It takes the focus from the buttons it replaces. */
function OutcomeLine({ outcome, onDismiss }: OutcomeLineProps) {
  const element = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    if (document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  }, []);
  const { icon, words } = OUTCOMES[outcome];
  return (
    <div class="decide">
      <p class={`pairing-outcome ${outcome}`} role="status" tabIndex={-1} ref={element}>
        <Icon name={icon} />
        {words}
      </p>
      <button type="button" class="quiet last" onClick={onDismiss}>
        Dismiss
      </button>
    </div>
  );
}
