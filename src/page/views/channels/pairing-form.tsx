import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { channelPanelOf } from '../../state/channels/channel-panel.ts';
import { channelName } from '../../state/channels/channel-words.ts';
import { fieldsOf } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';

interface PairingFormProps {
  app: App;
  desk: Desk;
  /** Their names; at least one. */
  channels: readonly string[];
}

/** Approves a person by the code that the channel gave to this person. */
export function PairingForm({ app, desk, channels }: PairingFormProps) {
  const { board } = channelPanelOf(app, desk);
  const users = board.choices.value;
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const { code = '', channel = channels[0] ?? '', user = '' } = fieldsOf(form);
    if (code.trim() === '') return 'Enter the code that the person received.';
    const refused = await board.pair({ channel, code: code.trim(), user });
    if (refused === undefined) form.reset();
    return refused;
  });
  const paired = board.paired.value;
  return (
    <form class="account-form channel-pairing" aria-label="Approve a person" noValidate onSubmit={onSubmit}>
      <label>
        Code of the person
        <input
          name="code"
          class="pairing-code-field"
          maxLength={64}
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          placeholder="ABCDE-23456"
          aria-invalid={problem.value !== undefined}
          aria-describedby="pairing-problem"
        />
      </label>
      {channels.length > 1 && (
        <label>
          Channel
          <select name="channel">
            {channels.map((channel) => (
              <option key={channel} value={channel}>
                {channelName(channel)}
              </option>
            ))}
          </select>
        </label>
      )}
      {users.length > 0 && (
        <label>
          Whose conversations these become
          <select name="user">
            <option value="">The operator’s</option>
            {users.map(({ userId, username, displayName }) => (
              <option key={userId} value={username}>
                {`${toVisibleLine(displayName)} (${toVisibleLine(username)})`}
              </option>
            ))}
          </select>
        </label>
      )}
      <button type="submit" class="primary" disabled={busy.value}>
        Approve
      </button>
      <p class="problem" role="alert" id="pairing-problem">
        {problem.value}
      </p>
      <p class="channel-paired" role="status">
        {paired &&
          `Approved: ${toVisibleLine(paired.name)} (${toVisibleLine(paired.senderId)}) may now write from ${channelName(paired.channel)}.`}
      </p>
    </form>
  );
}
