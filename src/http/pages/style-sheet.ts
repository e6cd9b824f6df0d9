// The one style sheet of the pages people see: phone width first, light and dark by the system's choice, motion only where
// it is welcome. Colours are variables; contrast of text is at least 4.5:1 in both schemes.

const rules = `
:root{color-scheme:light dark;--page:#f3f4f9;--card:#fff;--ink:#171927;--muted:#565b72;--line:#d5d9e6;--soft:#f1f2fa;--strong:#80869d;--bad:#a8201a;--bad-soft:#fdeeed;--good:#12694a;--glow:color-mix(in srgb,var(--accent) 13%,transparent)}
@media (prefers-color-scheme:dark){:root{--page:#0d0f17;--card:#161925;--ink:#f0f1f8;--muted:#a9aec4;--line:#2c3145;--soft:#1e2231;--strong:#767d99;--bad:#ffb3ad;--bad-soft:#3a1c1d;--good:#7fdcb4;--glow:color-mix(in srgb,var(--accent) 30%,transparent)}}
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;background:var(--card);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Hiragino Sans","Noto Sans JP",sans-serif}
main{width:100%;max-width:26.5rem;margin:0 auto;padding:2rem 1.375rem 2.5rem}
header{display:flex;align-items:center;gap:.7rem;margin-bottom:2.25rem;font-weight:600}
.mark{display:grid;place-items:center;width:2.25rem;height:2.25rem;border-radius:.7rem;background:var(--accent);color:var(--on-accent);font-weight:700;font-size:1.1rem}
h1{margin:0 0 .4rem;font-size:1.625rem;line-height:1.25;letter-spacing:-.018em;font-weight:650;text-wrap:balance;overflow-wrap:anywhere}
p{margin:0 0 1rem}
.lead{color:var(--muted);margin-bottom:1.6rem;overflow-wrap:anywhere}
.lead b,.facts dd{color:var(--ink);font-weight:600}
form{margin:0}
label{display:block;margin-bottom:.4rem;font-weight:600;font-size:.9375rem}
input{width:100%;min-height:3.125rem;padding:.7rem .9rem;border:1.5px solid var(--strong);border-radius:.8rem;background:var(--card);color:inherit;font:inherit;transition:border-color .15s,box-shadow .15s}
input:focus{outline:none;border-color:var(--accent);box-shadow:0 0 0 4px var(--glow),0 0 0 1.5px var(--ink)}
input[aria-invalid=true]{border-color:var(--bad)}
#pin{font-size:1.6rem;font-weight:600;letter-spacing:.42em;text-align:center;padding-left:1.3rem;font-variant-numeric:tabular-nums}
button,.button{display:flex;align-items:center;justify-content:center;gap:.6rem;width:100%;min-height:3.125rem;padding:.7rem 1.1rem;border:1.5px solid transparent;border-radius:.8rem;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-decoration:none;cursor:pointer;transition:filter .15s,background .15s}
button:hover,.button:hover{filter:brightness(1.08)}
button:active{filter:brightness(.95)}
button:focus-visible,a:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
button[disabled]{opacity:.6;cursor:default}
form>button{margin-top:1rem}
.plain{background:var(--card);color:var(--ink);border-color:var(--strong)}
.plain:hover{background:var(--soft);filter:none}
.choice{justify-content:flex-start;text-align:left;gap:.9rem;padding:.8rem 1rem;background:var(--card);color:var(--ink);border-color:var(--line)}
.choice:hover{border-color:var(--strong);background:var(--soft);filter:none}
.choice svg{flex:none;width:1.5rem;height:1.5rem;color:var(--ink)}
.choice small{display:block;color:var(--muted);font-weight:400;font-size:.875rem}
.stack{display:grid;gap:.7rem}
.stack form>button{margin-top:0}
.foot{display:flex;flex-wrap:wrap;gap:.35rem 1.1rem;justify-content:center;margin-top:1.1rem}
.foot form>button{margin:0}
.link{width:auto;min-height:2.75rem;padding:.4rem .6rem;background:none;color:var(--ink);border-color:transparent;font-weight:500;font-size:.9375rem;text-decoration:underline;text-decoration-color:var(--strong);text-underline-offset:.25em}
.link:hover{text-decoration-color:currentColor;filter:none}
.who{display:flex;align-items:center;gap:.6rem;max-width:100%;margin:0 0 1.5rem;padding:.35rem .4rem .35rem .9rem;border:1.5px solid var(--line);border-radius:99px;font-size:.9375rem}
.who span{flex:1;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.who a{flex:none;padding:.25rem .7rem;border-radius:99px;background:var(--soft);color:var(--ink);font-weight:500;font-size:.875rem;text-decoration:none}
.who a:hover{text-decoration:underline}
.alert{display:block;margin:0 0 1.25rem;padding:.8rem 1rem;border-radius:.8rem;background:var(--bad-soft);color:var(--bad);font-weight:500;font-size:.9375rem}
.center .facts{margin-top:0}.hint{margin:.55rem 0 0;color:var(--muted);font-size:.875rem}
#approve-number{display:grid;place-items:center;width:9.5rem;height:9.5rem;margin:.5rem auto 1.5rem;border-radius:50%;background:var(--soft);font-size:3.9rem;font-weight:700;line-height:1;letter-spacing:.02em;font-variant-numeric:tabular-nums;position:relative}
#approve-number::after{content:"";position:absolute;inset:-.45rem;border-radius:50%;border:3px solid var(--line);border-top-color:var(--accent)}
.center{text-align:center}
.center .lead{margin-left:auto;margin-right:auto}
.facts{margin:1.4rem 0 .6rem;padding:.8rem 1rem;border-radius:.8rem;background:var(--soft);font-size:.875rem;text-align:left}
.facts div{display:flex;gap:1rem;justify-content:space-between;padding:.15rem 0}
.facts dt{color:var(--muted);flex:none}
.facts dd{margin:0;text-align:right;min-width:0;overflow-wrap:anywhere}
.badge{display:grid;place-items:center;width:4.25rem;height:4.25rem;margin:0 auto 1.4rem;border-radius:50%;background:var(--soft);color:var(--muted)}
.badge svg{width:2rem;height:2rem}
.badge.good{color:var(--good)}.badge.bad{color:var(--bad);background:var(--bad-soft)}
.scopes{margin:0 0 1.2rem;padding:0;list-style:none;border:1.5px solid var(--line);border-radius:.8rem}
.scopes li{display:flex;gap:.7rem;padding:.75rem 1rem;border-top:1.5px solid var(--line);overflow-wrap:anywhere}
.scopes li:first-child{border-top:0}
.scopes svg{flex:none;width:1.2rem;height:1.2rem;margin-top:.15rem;color:var(--good)}
.mono{font:.8125rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}p.mono{padding:.7rem .9rem;border-radius:.8rem;background:var(--soft)}
.qr{display:block;width:11.5rem;max-width:100%;height:auto;margin:0 auto;border-radius:.8rem}
.scan{margin:0 0 .6rem;color:var(--muted)}
#open-app{margin:.3rem auto .4rem}
[hidden]{display:none!important}
@media (prefers-reduced-motion:reduce){*,*::before,*::after{transition:none!important}}
@media (prefers-reduced-motion:no-preference){#approve-number::after{animation:turn 1.6s linear infinite}main{animation:rise .28s ease-out}@keyframes turn{to{transform:rotate(1turn)}}@keyframes rise{from{opacity:0;transform:translateY(6px)}}}
@media (min-width:34rem){body{justify-content:center;padding:3rem 1rem;background:radial-gradient(60rem 32rem at 50% -12rem,var(--glow),transparent) no-repeat var(--page)}main{padding:2.5rem 2.5rem 2rem;background:var(--card);border:1px solid var(--line);border-radius:1.5rem;box-shadow:0 1px 2px rgb(18 20 40/.05),0 20px 48px -12px rgb(18 20 40/.16)}}
@media (forced-colors:active){input,button,.facts,.alert{border:1px solid}}
`;

export const styleSheet = rules.replaceAll('\n', '');
