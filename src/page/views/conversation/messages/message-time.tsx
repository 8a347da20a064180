const SHORT: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' };

/** In local time. The style sheet draws it, so that a selection of the conversation does not contain it. */
export function MessageTime({ atMs, of }: { atMs: number; of: 'message' | 'answer' }) {
  const at = new Date(atMs);
  return (
    <time
      class={`${of}-time`}
      dateTime={at.toISOString()}
      title={at.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}
      data-shown={at.toLocaleString(undefined, SHORT)}
    />
  );
}
