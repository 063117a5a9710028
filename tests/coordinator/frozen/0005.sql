--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: alembic_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);


--
-- Name: earlier; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.earlier (
    study character varying(100) NOT NULL,
    version integer NOT NULL,
    agreement text NOT NULL,
    until double precision NOT NULL
);


--
-- Name: invites; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invites (
    code character varying(64) NOT NULL,
    study character varying(100) NOT NULL,
    site character varying(100) NOT NULL,
    expires_at double precision NOT NULL,
    token character varying(64)
);


--
-- Name: logins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.logins (
    cookie character varying(64) NOT NULL,
    person character varying(100) NOT NULL,
    expires_at double precision NOT NULL
);


--
-- Name: people; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.people (
    person character varying(100) NOT NULL,
    password character varying(200) NOT NULL
);


--
-- Name: proposals; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.proposals (
    study character varying(100) NOT NULL,
    site character varying(100) NOT NULL,
    turn integer NOT NULL,
    state integer NOT NULL,
    designs integer NOT NULL,
    "X" bytea NOT NULL,
    bests bytea NOT NULL,
    reward double precision,
    earlier integer DEFAULT 0 NOT NULL,
    arrived_at double precision,
    version integer DEFAULT 0 NOT NULL
);


--
-- Name: sites; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sites (
    study character varying(100) NOT NULL,
    site character varying(100) NOT NULL,
    has_left boolean NOT NULL,
    token character varying(64),
    accepted integer DEFAULT 0 NOT NULL
);


--
-- Name: studies; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.studies (
    study character varying(100) NOT NULL,
    agreement text NOT NULL,
    closed integer NOT NULL,
    opened_at double precision,
    departures integer DEFAULT 0 NOT NULL,
    version integer DEFAULT 0 NOT NULL
);


--
-- Data for Name: alembic_version; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.alembic_version (version_num) FROM stdin;
0005
\.


--
-- Data for Name: earlier; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.earlier (study, version, agreement, until) FROM stdin;
\.


--
-- Data for Name: invites; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.invites (code, study, site, expires_at, token) FROM stdin;
23299ced7088e7123ecbc3b03144f3d92d04f6128ef9fdee3bb1bc298e786235	frozen	lab-a	1800604800	25bd75f3df3bc293d302be216e76eab396b7d0d664f380490019b2ae5c0dafed
02de5a27641b43ddc58517e9caa151355a45a3e25fbe42b804098e6307b72ae3	frozen	lab-b	1800604800	\N
\.


--
-- Data for Name: logins; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.logins (cookie, person, expires_at) FROM stdin;
\.


--
-- Data for Name: people; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.people (person, password) FROM stdin;
ada	$argon2id$v=19$m=65536,t=3,p=4$R/GvOyE2iD8xIo81LdngJg$nQ/RIrcE1Dza4OTq0N4gR1uJAXpOT5OcCqtRwvSIeMQ
\.


--
-- Data for Name: proposals; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.proposals (study, site, turn, state, designs, "X", bests, reward, earlier, arrived_at, version) FROM stdin;
frozen	lab-a	0	0	1	\\xf3bd068300000000bc9651f300000000	\\xafb0daf200000000a02fd44f00000000	0.14415961271963373	0	1800000000	0
frozen	lab-b	0	0	1	\\x461f5f6c000000003351e4d300000000	\\x032cb28c00000000321d0e0700000000	0.4091991363691613	0	1800000000	0
frozen	lab-a	1	1	1	\\x2f3ce6c0000000009bc2c38900000000	\\xa876d6c900000000242d9e4d00000000	0.32973171649909216	1	1800000000	0
frozen	lab-b	1	1	1	\\x0c70187400000000828e502200000000	\\x85a415340000000093f7264300000000	0.40311298644712923	1	1800000000	0
frozen	lab-a	2	2	1	\\x31e617c0000000004ddec84700000000	\\xd79711fb00000000752a2ff600000000	0.48519097443163506	2	1800000000	0
frozen	lab-b	2	2	1	\\x64d58bb900000000dcd78d8a00000000	\\x747d20290000000029084df800000000	0.2768912040453708	2	1800000000	0
frozen	lab-a	3	3	1	\\x21121d8400000000685ea91d00000000	\\x5fb4d4c600000000cac8ed9c00000000	0.6234897555375004	3	1800000000	0
\.


--
-- Data for Name: sites; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.sites (study, site, has_left, token, accepted) FROM stdin;
frozen	lab-b	f	\N	0
frozen	lab-a	f	25bd75f3df3bc293d302be216e76eab396b7d0d664f380490019b2ae5c0dafed	0
\.


--
-- Data for Name: studies; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.studies (study, agreement, closed, opened_at, departures, version) FROM stdin;
frozen	{"name": "frozen", "space": {"parameters": {"a": {"type": "float", "low": 0.0, "high": 1.0}, "b": {"type": "float", "low": -5.0, "high": 5.0}}, "constraints": []}, "sites": ["lab-a", "lab-b"], "horizon": 6, "budgets": {"lab-a": 6, "lab-b": 6}, "rule": "leader", "graph": "complete", "shares_best": true, "quorum": 2, "deadline": 3600.0, "pace": "rounds", "objectives": ["y"]}	3	1800000000	0	0
\.


--
-- Name: alembic_version alembic_version_pkc; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);


--
-- Name: earlier pk_earlier; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.earlier
    ADD CONSTRAINT pk_earlier PRIMARY KEY (study, version);


--
-- Name: invites pk_invites; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT pk_invites PRIMARY KEY (code);


--
-- Name: logins pk_logins; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.logins
    ADD CONSTRAINT pk_logins PRIMARY KEY (cookie);


--
-- Name: people pk_people; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.people
    ADD CONSTRAINT pk_people PRIMARY KEY (person);


--
-- Name: proposals pk_proposals; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT pk_proposals PRIMARY KEY (study, site, turn);


--
-- Name: sites pk_sites; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT pk_sites PRIMARY KEY (study, site);


--
-- Name: studies pk_studies; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.studies
    ADD CONSTRAINT pk_studies PRIMARY KEY (study);


--
-- Name: sites uq_sites_token; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT uq_sites_token UNIQUE (token);


--
-- Name: ix_proposals_state; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_proposals_state ON public.proposals USING btree (study, state);


--
-- Name: earlier fk_earlier_studies; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.earlier
    ADD CONSTRAINT fk_earlier_studies FOREIGN KEY (study) REFERENCES public.studies(study);


--
-- Name: invites fk_invites_sites; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT fk_invites_sites FOREIGN KEY (study, site) REFERENCES public.sites(study, site);


--
-- Name: logins fk_logins_people; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.logins
    ADD CONSTRAINT fk_logins_people FOREIGN KEY (person) REFERENCES public.people(person);


--
-- Name: proposals fk_proposals_sites; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT fk_proposals_sites FOREIGN KEY (study, site) REFERENCES public.sites(study, site);


--
-- Name: sites fk_sites_studies; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT fk_sites_studies FOREIGN KEY (study) REFERENCES public.studies(study);


--
-- PostgreSQL database dump complete
--


