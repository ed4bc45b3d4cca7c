/*
 * Logs in with a passkey, and adds one to the account. Only a script can use passkeys, so what it enhances is hidden without it.
 */

const toBase64Url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const fromBase64Url = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
const withBytes = (credential) => ({ ...credential, id: fromBase64Url(credential.id) });

/** The options as the browser needs them; older browsers cannot read them from JSON. */
function creationOptions(json) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON) {
    return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  }
  return {
    ...json,
    challenge: fromBase64Url(json.challenge),
    user: withBytes(json.user),
    excludeCredentials: json.excludeCredentials.map(withBytes),
  };
}

function requestOptions(json) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON) {
    return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  }
  return { ...json, challenge: fromBase64Url(json.challenge) };
}

/** The passkey's answer as JSON; older browsers, and some extensions, cannot write it. */
function toJson(credential) {
  try {
    return credential.toJSON();
  } catch {
    const { id, type, response } = credential;
    const members = {};
    for (const name of [
      'clientDataJSON',
      'attestationObject',
      'authenticatorData',
      'signature',
      'userHandle',
    ]) {
      if (response[name]) members[name] = toBase64Url(response[name]);
    }
    const transports = response.getTransports?.();
    return { id, rawId: id, type, clientExtensionResults: {}, response: { ...members, transports } };
  }
}

// By the English ones, where the page is in another language.
const words = JSON.parse(document.querySelector('main')?.dataset.words ?? '{}');
const inLanguage = (english) => words[english] ?? words['That did not work. Try again later.'] ?? english;

/** What went wrong, in words for the person at the browser. */
const messageOf = (error) => (error.isForThem ? error.message : inLanguage(englishMessageOf(error)));

function englishMessageOf(error) {
  if (error.name === 'NotAllowedError' || error.name === 'AbortError') {
    return 'No passkey was used: the request was cancelled, or it took too long. Try again.';
  }
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for your account.';
  if (error.name === 'SecurityError') return 'Passkeys do not work at this address.';
  return error.message;
}

const { lang } = document.documentElement;

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'accept-language': lang },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) {
    const isForThem = response.headers.get('content-language') === lang;
    throw Object.assign(new Error(answer.detail), { isForThem });
  }
  return answer;
}

function showIn(alert, error) {
  alert.textContent = messageOf(error);
  alert.hidden = false;
}

/** Runs the work of a button; says what went wrong in the alert next to it. */
function onClick(button, alert, work) {
  button.addEventListener('click', async (event) => {
    event.preventDefault();
    button.disabled = true;
    alert.hidden = true;
    try {
      await work();
    } catch (error) {
      showIn(alert, error);
    }
    button.disabled = false;
  });
}

async function finishLogin(credential, returnTo) {
  const { location: to } = await post('/login/passkey', {
    return_to: returnTo,
    response: toJson(credential),
  });
  location.assign(to);
}

async function logIn(returnTo) {
  const publicKey = requestOptions(await post('/login/passkey/options', {}));
  await finishLogin(await navigator.credentials.get({ publicKey }), returnTo);
}

// A challenge lasts five minutes, and a browser answers only the last one that it was given.
const OFFERED_ANEW_AFTER_MS = 4 * 60_000;

/** Keeps passkeys among what the browser suggests for the email address. */
class Suggestions {
  constructor(returnTo, onRefused) {
    this.returnTo = returnTo;
    this.onRefused = onRefused;
    document.addEventListener('visibilitychange', () => this.offer());
    this.offer();
  }

  /** Offers them anew while the page is seen: another page of this browser may have been given a challenge. */
  async offer() {
    this.stop();
    if (document.hidden) return;
    const { signal } = (this.offered = new AbortController());
    this.timer = setTimeout(() => this.offer(), OFFERED_ANEW_AFTER_MS);
    let credential;
    try {
      const publicKey = requestOptions(await post('/login/passkey/options', {}));
      signal.throwIfAborted();
      credential = await navigator.credentials.get({ publicKey, mediation: 'conditional', signal });
    } catch {
      // Nobody has asked for anything yet, and the button says what is wrong.
      return;
    }
    await finishLogin(credential, this.returnTo).catch((error) => {
      this.onRefused(error);
      this.offer();
    });
  }

  /** A browser answers one request at a time. */
  stop() {
    clearTimeout(this.timer);
    this.offered?.abort();
  }
}

/** Where the page has a field for it and the browser a list; otherwise undefined. */
async function suggestPasskeys(returnTo, onRefused) {
  if (!document.querySelector('[autocomplete~=webauthn]')) return undefined;
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return undefined;
  return new Suggestions(returnTo, onRefused);
}

async function addPasskey(form) {
  if (!form.reportValidity()) return;
  const publicKey = creationOptions(JSON.parse(form.dataset.passkeyCreation));
  const credential = await navigator.credentials.create({ publicKey });
  form.elements.response.value = JSON.stringify(toJson(credential));
  form.submit();
}

/** Makes a passkey for the account that the form creates, and sends it in place of a password. */
async function signUp(form, path) {
  const { name, response } = form.elements;
  if (!name.reportValidity()) return;
  const options = await post(path, {});
  options.user.displayName = name.value;
  const credential = await navigator.credentials.create({ publicKey: creationOptions(options) });
  for (const field of form.querySelectorAll('[type=password]')) field.value = '';
  response.value = JSON.stringify(toJson(credential));
  form.submit();
}

/** Where the browser has passkeys of its own, the button stands there at once, and there is nothing to unfold. */
async function showSection(section) {
  section.hidden = false;
  section.open = await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable();
  section.querySelector('summary').hidden = section.open;
}

if (window.PublicKeyCredential) {
  for (const notice of document.querySelectorAll('[data-without-passkeys]')) notice.hidden = true;
  for (const element of document.querySelectorAll('[data-passkey-sign-in]')) {
    element.hidden = false;
    const [alert, button] = [element.querySelector('[role=alert]'), element.querySelector('button')];
    const { returnTo } = element.dataset;
    const suggestions = suggestPasskeys(returnTo, (error) => {
      const section = element.closest('details');
      if (section) section.open = true;
      showIn(alert, error);
    });
    onClick(button, alert, async () => {
      const offered = await suggestions;
      offered?.stop();
      await logIn(returnTo).catch((error) => {
        offered?.offer();
        throw error;
      });
    });
  }
  document.querySelectorAll('[data-passkey-section]').forEach(showSection);
  for (const element of document.querySelectorAll('[data-passkey-sign-up]')) {
    element.hidden = false;
    const [alert, button] = [element.querySelector('[role=alert]'), element.querySelector('button')];
    onClick(button, alert, () => signUp(button.form, element.dataset.passkeySignUp));
    // After the browser's back button, a password is sent without the passkey of before.
    button.form.addEventListener('submit', () => (button.form.elements.response.value = ''));
  }
  for (const form of document.querySelectorAll('form[data-passkey-creation]')) {
    form.hidden = false;
    const [alert, button] = [form.querySelector('[role=alert]'), form.querySelector('button')];
    onClick(button, alert, () => addPasskey(form));
  }
}
