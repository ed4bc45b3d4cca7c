/** What was typed as JSON; other text stays text, which no rule for an object accepts. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
